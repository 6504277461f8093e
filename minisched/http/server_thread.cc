#include "minisched/http/server_thread.h"

#include <boost/asio/io_context.hpp>
#include <exception>
#include <thread>
#include <utility>

#include "minisched/base/log.h"
#include "minisched/http/http_server.h"

namespace minisched::http {

struct ServerThread::Impl {
  Impl(HttpServerOptions options, Handler handler)
      : server(io, std::move(options),
               [handler = std::move(handler)](
                   const Request& request, const HttpServer::Respond& respond) {
                 respond(handler(request));
               }),
        url(server.url()),
        thread([this] { Run(); }) {}
  ~Impl() { io.stop(); }

  void Run() {
    while (!io.stopped()) {
      try {
        io.run();
      } catch (const std::exception& error) {
        spdlog::error("internal error of {}, continuing: {}", url,
                      error.what());
      }
    }
  }

  boost::asio::io_context io{1};
  HttpServer server;
  const std::string url;
  std::jthread thread;
};

ServerThread::ServerThread(HttpServerOptions options, Handler handler)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(handler))) {}

ServerThread::~ServerThread() = default;

const std::string& ServerThread::url() const { return impl_->url; }

}  // namespace minisched::http
