#include "lab/apiserver/server.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "lab/apiserver/control_plane.h"
#include "lab/apiserver/errors.h"
#include "lab/apiserver/faults/faults.h"
#include "lab/apiserver/limits.h"
#include "lab/apiserver/loop.h"
#include "minisched/api/parse_error.h"
#include "minisched/base/file_limit.h"
#include "minisched/base/log.h"
#include "minisched/http/http_server.h"

namespace minisched::apiserver {
namespace {

using http::HttpServer;

// After Stop(), Run() waits up to kGrace for connections to end, and checks
// every kPause.
constexpr std::chrono::milliseconds kGrace{1000};
constexpr std::chrono::milliseconds kPause{5};

// Returns the reply to a request that HttpServer can't handle.
Reply ErrorReply(int status, const std::string& message) {
  const std::string reason =
      status == 413 ? "RequestEntityTooLarge" : "InternalError";
  return StatusError(status, reason, message).ToReply();
}

// The loop of the running server.
class AsioLoop : public Loop {
 public:
  explicit AsioLoop(boost::asio::io_context& io) : io_(io) {}

  Time Now() const override {
    return std::chrono::floor<Time::duration>(std::chrono::system_clock::now());
  }

  void Post(std::function<void()> task) override {
    boost::asio::post(io_, std::move(task));
  }

  void After(std::chrono::milliseconds delay,
             std::function<void()> task) override {
    const auto timer = std::make_shared<boost::asio::steady_timer>(io_, delay);
    timer->async_wait(
        [timer, task = std::move(task)](boost::system::error_code error) {
          if (!error) task();
        });
  }

 private:
  boost::asio::io_context& io_;
};

}  // namespace

struct Server::Impl {
  explicit Impl(const ServerOptions& options)
      : control_plane(loop, options,
                      [this](std::chrono::milliseconds duration) {
                        http.GoAway(duration);
                      }),
        http(io,
             {.address = options.address,
              .port = options.port,
              .max_body = kMaxBytes,
              .error_reply = ErrorReply},
             [this](Request request, const HttpServer::Respond& respond) {
               control_plane.Serve(std::move(request), respond);
             }),
        url(http.url()) {
    control_plane.SetAddress(url.substr(url.find("//") + 2));
  }

  // Ends the loop when all connections have ended, or when `left` has passed.
  void AwaitIdle(std::chrono::milliseconds left);

  boost::asio::io_context io{1};
  AsioLoop loop{io};
  ControlPlane control_plane;
  // Declared after the control plane, because its streams refer to the store
  // and so must be destroyed first.
  HttpServer http;
  const std::string url;
};

void Server::Impl::AwaitIdle(std::chrono::milliseconds left) {
  if (http.idle() || left <= left.zero()) return io.stop();
  loop.After(kPause, [this, left] { AwaitIdle(left - kPause); });
}

Server::Server(const ServerOptions& options) {
  RaiseFileLimit();
  impl_ = std::make_unique<Impl>(options);
}

Server::~Server() = default;

const std::string& Server::url() const { return impl_->url; }

std::string Server::Kubeconfig() const {
  return fmt::format(R"(apiVersion: v1
kind: Config
current-context: minisched
clusters:
- name: minisched
  cluster:
    server: {}
    insecure-skip-tls-verify: true
contexts:
- name: minisched
  context: {{cluster: minisched, user: minisched}}
users:
- name: minisched
  user: {{}}
)",
                     url());
}

void Server::Load(const std::string& manifest, const std::string& source) {
  // Run the controllers first: the manifest may need the objects that they
  // create at the start.
  impl_->io.poll();
  impl_->io.restart();
  impl_->control_plane.Load(manifest, source);
}

std::vector<std::string> Server::Restore(const std::string& manifest,
                                         const std::string& source) {
  // Run the controllers first, as in Load().
  impl_->io.poll();
  impl_->io.restart();
  return impl_->control_plane.Restore(manifest, source);
}

void Server::Run() {
  while (!impl_->io.stopped()) {
    try {
      impl_->io.run();
    } catch (const std::exception& error) {
      // A task has a bug. Continue with the other tasks.
      spdlog::error("internal error, continuing: {}", error.what());
    }
  }
}

void Server::Stop() {
  impl_->loop.Post([this] {
    impl_->http.Close();
    impl_->AwaitIdle(kGrace);
  });
}

void Server::SetFaults(const std::string& document, const std::string& source) {
  try {
    impl_->loop.Post([this, faults = Faults::Parse(document)] {
      impl_->control_plane.SetFaults(faults);
    });
  } catch (const ParseError& error) {
    throw std::runtime_error(source + ": " + error.what());
  }
}

void Server::Compact() {
  impl_->loop.Post([this] { impl_->control_plane.store().Compact(); });
}

void Server::GoAway(std::chrono::milliseconds duration) {
  impl_->loop.Post([this, duration] { impl_->http.GoAway(duration); });
}

void Server::ForEach(const std::string& resource,
                     const std::function<void(const Json&)>& visit) {
  const auto objects = std::make_shared<std::promise<std::vector<Object>>>();
  impl_->loop.Post([this, resource, objects] {
    std::vector<Object> all;
    for (const auto& [key, object] :
         impl_->control_plane.store().All(resource)) {
      all.push_back(object);
    }
    objects->set_value(std::move(all));
  });
  for (const Object& object : objects->get_future().get()) visit(*object);
}

}  // namespace minisched::apiserver
