#include "lab/apiserver/server.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <boost/algorithm/string.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <stdexcept>
#include <utility>

#include "lab/apiserver/controllers/controllers.h"
#include "lab/apiserver/discovery.h"
#include "lab/apiserver/errors.h"
#include "lab/apiserver/faults/control.h"
#include "lab/apiserver/faults/faults.h"
#include "lab/apiserver/limits.h"
#include "lab/apiserver/loop.h"
#include "lab/apiserver/metrics.h"
#include "lab/apiserver/registry.h"
#include "lab/apiserver/rest.h"
#include "lab/apiserver/store.h"
#include "minisched/api/parse_error.h"
#include "minisched/api/yaml.h"
#include "minisched/base/file_limit.h"
#include "minisched/http/http_server.h"

namespace minisched::apiserver {
namespace {

using http::HttpServer;

// After Stop(), Run() waits up to kGrace for connections to end, and checks
// every kPause.
constexpr std::chrono::milliseconds kGrace{1000};
constexpr std::chrono::milliseconds kPause{5};

// The PriorityClasses that every cluster has.
const Json kSystemPriorityClasses = {
    {{"metadata", {{"name", "system-node-critical"}}},
     {"value", 2'000'001'000},
     {"description",
      "Used for system critical pods that must not be moved from their current "
      "node."}},
    {{"metadata", {{"name", "system-cluster-critical"}}},
     {"value", 2'000'000'000},
     {"description",
      "Used for system critical pods that must run in the cluster, but can be "
      "moved to another node if necessary."}}};

// Returns the reply to a request that HttpServer can't handle.
Reply ErrorReply(int status, const std::string& message) {
  const std::string reason =
      status == 413 ? "RequestEntityTooLarge" : "InternalError";
  return StatusError(status, reason, message).ToReply();
}

// Returns an empty OpenAPI v2 document, as protobuf. kubectl requests this
// document if the OpenAPI v3 document lacks a kind or its fields, and accepts
// that this document lacks them too.
Reply OpenApiV2() {
  return {.content_type =
              "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
          .body =
              "\x0a\x03"
              "2.0"};  // field 1: swagger
}

Reply AggregatedDiscovery(const Json& document) {
  Reply reply = JsonReply(document);
  reply.content_type =
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  // The answer at this path depends on the Accept header, and a cache must
  // respect that.
  reply.headers.emplace_back("Vary", "Accept");
  return reply;
}

// Returns the objects of a manifest. A list is replaced by its items.
std::vector<Json> ObjectsOf(const std::string& manifest) {
  std::vector<Json> objects;
  for (const std::string& text : YamlToJson(manifest)) {
    Json document = Json::parse(text);
    if (GetString(document, "kind").ends_with("List") &&
        document.contains("items")) {
      for (Json& item : document["items"]) objects.push_back(std::move(item));
    } else {
      objects.push_back(std::move(document));
    }
  }
  return objects;
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
      : http(io,
             {.address = options.address,
              .port = options.port,
              .max_body = kMaxBytes,
              .error_reply = ErrorReply},
             [this](Request request, const HttpServer::Respond& respond) {
               Serve(std::move(request), respond);
             }),
        url(http.url()),
        documents(DiscoveryDocuments(url.substr(url.find("//") + 2))) {
    for (const Json& priority_class : kSystemPriorityClasses) {
      registry.Create(GetResource("scheduling.k8s.io", "priorityclasses"), "",
                      priority_class);
    }
    const auto run = [this](auto* make_controller) {
      controllers.push_back(make_controller(registry));
    };
    run(NewNamespaceController);
    run(NewGarbageCollector);
    run(NewDisruptionController);
    if (options.simulate_kubelet) run(NewKubeletSimulator);
    if (options.simulate_workloads) {
      run(NewDeploymentController);
      run(NewReplicaSetController);
    }
  }

  // Ends the loop when all connections have ended, or when `left` has passed.
  void AwaitIdle(std::chrono::milliseconds left);
  void Serve(Request request, const HttpServer::Respond& respond);
  // `info` is nullopt if the request is not for a resource.
  Reply Handle(const Request& request, const std::optional<RequestInfo>& info);
  Reply HandleOther(const Request& request);
  // Returns the document at the path. Ignores the method. Throws StatusError
  // (404) if there is no document.
  Reply DocumentAt(const Request& request);

  boost::asio::io_context io{1};
  AsioLoop loop{io};
  Store store;
  Registry registry{store, loop};
  Metrics metrics;
  Faults faults;
  Control control{
      faults, store, metrics,
      [this](std::chrono::milliseconds duration) { http.GoAway(duration); }};
  std::vector<std::unique_ptr<Controller>> controllers;
  // Declared after the store, because its streams refer to the store and so
  // must be destroyed first.
  HttpServer http;
  const std::string url;
  const std::map<std::string, Json> documents;
  const std::map<std::string, Json> aggregated_documents =
      AggregatedDiscoveryDocuments();
};

void Server::Impl::AwaitIdle(std::chrono::milliseconds left) {
  if (http.idle() || left <= left.zero()) return io.stop();
  loop.After(kPause, [this, left] { AwaitIdle(left - kPause); });
}

void Server::Impl::Serve(Request request, const HttpServer::Respond& respond) {
  const auto info = RequestInfo::Parse(request);
  if (!info) return respond(Handle(request, info));
  const auto start = std::chrono::steady_clock::now();
  const FaultEffect effect = faults.Select(request, *info);
  const auto shared = std::make_shared<const Request>(std::move(request));
  ApplyEffect(
      loop, effect, [=, this] { return Handle(*shared, info); },
      [=, this](Reply reply) {
        metrics.Count(*shared, *info, reply.status,
                      std::chrono::steady_clock::now() - start);
        respond(std::move(reply));
      });
}

Reply Server::Impl::Handle(const Request& request,
                           const std::optional<RequestInfo>& info) {
  try {
    return info ? ServeResource(registry, request, *info)
                : HandleOther(request);
  } catch (const StatusError& error) {
    return error.ToReply();
  } catch (const ParseError& error) {
    return BadRequest(error.what()).ToReply();
  } catch (const std::exception& error) {
    return StatusError(500, "InternalError",
                       fmt::format("Internal error occurred: {}", error.what()))
        .ToReply();
  }
}

Reply Server::Impl::HandleOther(const Request& request) {
  if (Control::Owns(request)) return control.Handle(request);
  Reply document = DocumentAt(request);
  if (request.method != "GET") throw MethodNotAllowed();
  return document;
}

Reply Server::Impl::DocumentAt(const Request& request) {
  const std::string path =
      boost::trim_right_copy_if(request.path, boost::is_any_of("/"));
  if (path == "/healthz" || path == "/livez" || path == "/readyz") {
    return TextReply("ok");
  }
  if (path == "/metrics") {
    Reply reply = TextReply(metrics.Text());
    reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
    return reply;
  }
  if (path == "/openapi/v2") return OpenApiV2();
  const auto aggregated = aggregated_documents.find(path);
  if (aggregated != aggregated_documents.end() &&
      AcceptsAggregatedDiscovery(request)) {
    return AggregatedDiscovery(aggregated->second);
  }
  const auto document = documents.find(path);
  if (document == documents.end()) throw PathNotFound();
  return JsonReply(document->second);
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
  std::string what = source;
  try {
    for (Json& object : ObjectsOf(manifest)) {
      const std::string kind = GetString(object, "kind");
      what = source + ": " + kind + " " + NameOf(object);
      const ResourceRow* row = FindKind(GetString(object, "apiVersion"), kind);
      if (row == nullptr) {
        throw std::runtime_error(
            fmt::format("unknown kind: apiVersion \"{}\", kind \"{}\"",
                        GetString(object, "apiVersion"), kind));
      }
      RequestInfo info{.row = row, .verb = "create"};
      if (row->namespaced) info.ns = NamespaceOf(object);
      if (row->namespaced && info.ns.empty()) info.ns = "default";
      const Request request{.query = {{"fieldValidation", "Strict"}},
                            .headers = {{"content-type", "application/json"}},
                            .body = Dump(object)};
      ServeResource(impl_->registry, request, info);
    }
  } catch (const std::exception& error) {
    throw std::runtime_error(what + ": " + error.what());
  }
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
    impl_->loop.Post(
        [this, faults = Faults::Parse(document)] { impl_->faults = faults; });
  } catch (const ParseError& error) {
    throw std::runtime_error(source + ": " + error.what());
  }
}

void Server::Compact() {
  impl_->loop.Post([this] { impl_->store.Compact(); });
}

void Server::GoAway(std::chrono::milliseconds duration) {
  impl_->loop.Post([this, duration] { impl_->http.GoAway(duration); });
}

}  // namespace minisched::apiserver
