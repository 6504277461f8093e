#include "minisched/apiserver/server.h"

#include <spdlog/spdlog.h>

#include <boost/algorithm/string.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "minisched/api/parse_error.h"
#include "minisched/api/yaml.h"
#include "minisched/apiserver/asio_loop.h"
#include "minisched/apiserver/body.h"
#include "minisched/apiserver/control.h"
#include "minisched/apiserver/deployment_controller.h"
#include "minisched/apiserver/discovery.h"
#include "minisched/apiserver/disruption_controller.h"
#include "minisched/apiserver/encoding.h"
#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/event_view.h"
#include "minisched/apiserver/fault_effect.h"
#include "minisched/apiserver/faults.h"
#include "minisched/apiserver/garbage_collector.h"
#include "minisched/apiserver/http_server.h"
#include "minisched/apiserver/kubelet_simulator.h"
#include "minisched/apiserver/metrics.h"
#include "minisched/apiserver/namespace_controller.h"
#include "minisched/apiserver/node_controller.h"
#include "minisched/apiserver/openapi.h"
#include "minisched/apiserver/registry.h"
#include "minisched/apiserver/replica_set_controller.h"
#include "minisched/apiserver/replies.h"
#include "minisched/apiserver/rest.h"
#include "minisched/apiserver/schema.h"
#include "minisched/apiserver/store.h"

namespace minisched::apiserver {
namespace {

// How long Stop() waits for connections to end, and how often it looks.
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

// With a tag, for who has asked before: kubectl keeps what it has learnt.
Reply Tagged(const Request& request, Reply reply) {
  const std::string tag =
      "\"" + std::to_string(std::hash<std::string>()(reply.body)) + "\"";
  if (request.Header("if-none-match") == tag) {
    reply.status = 304;
    reply.body.clear();
  }
  reply.headers.emplace_back("ETag", tag);
  return reply;
}

// Aggregated discovery, where the client asks for it before the older forms.
Reply Discovery(const Request& request, const Json& plain, bool core) {
  for (const MediaType& type : ParseMediaTypes(request.Header("accept"))) {
    const auto parameter = [&](const std::string& name) {
      const auto found = type.parameters.find(name);
      return found == type.parameters.end() ? "" : found->second;
    };
    if (type.type != "application/json" || parameter("as").empty()) break;
    if (parameter("as") != "APIGroupDiscoveryList" || parameter("v") != "v2") {
      continue;
    }
    Reply reply = JsonReply(AggregatedDiscovery(core));
    reply.content_type =
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    return Tagged(request, std::move(reply));
  }
  return JsonReply(plain);
}

// An empty one: kubectl falls back on it where version 3 doesn't know a kind,
// wants it in protobuf, and does without what is not in there.
Reply OpenApiV2(const Request& request) {
  const bool protobuf =
      request.Header("accept").find("protobuf") != std::string::npos;
  Reply reply = JsonReply({{"swagger", "2.0"},
                           {"info", {{"title", "minisched"}}},
                           {"paths", Json::object()}});
  if (!protobuf) return reply;
  reply.content_type =
      "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
  reply.body =
      "\x0a\x03"
      "2.0";  // field 1: swagger
  return reply;
}

// A group of the API, in that version if one is given.
bool IsServed(const std::string& group, const std::string& version = "") {
  const auto& all = AllResources();
  return std::any_of(all.begin(), all.end(), [&](const ResourceRow& row) {
    return row.group == group && (version.empty() || row.version == version);
  });
}

// /healthz, /livez and /readyz, of which there is one check: being there.
std::optional<Reply> Health(const Request& request) {
  for (const std::string name : {"healthz", "livez", "readyz"}) {
    if (request.path == "/" + name + "/ping") return TextReply("ok");
    if (request.path != "/" + name) continue;
    if (!request.query.contains("verbose")) return TextReply("ok");
    return TextReply("[+]ping ok\n" + name + " check passed\n");
  }
  return std::nullopt;
}

// The documents of a manifest, with those of its lists instead of them.
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

}  // namespace

class Server::Impl {
 public:
  explicit Impl(const ServerOptions& options)
      : http_(io_, options.address, options.port,
              [this](Request request, const HttpServer::Respond& respond) {
                Serve(std::move(request), respond);
              }),
        url_(http_.url()) {
    for (const Json& priority_class : kSystemPriorityClasses) {
      registry_.Create(GetResource("scheduling.k8s.io", "priorityclasses"), "",
                       priority_class);
    }
    if (options.simulate_kubelet) {
      nodes_.emplace(registry_);
      kubelet_.emplace(registry_);
    }
    if (options.simulate_workloads) {
      deployments_.emplace(registry_);
      replica_sets_.emplace(registry_);
    }
  }

  const std::string& url() const { return url_; }
  void Run();
  void Stop() {
    loop_.Post([this] {
      http_.Close();
      AwaitIdle(kGrace);
    });
  }
  void Load(const std::string& manifest, const std::string& source);
  void SetFaults(Faults faults) {
    loop_.Post([this, faults = std::move(faults)] { faults_ = faults; });
  }
  void Compact() {
    loop_.Post([this] { store_.Compact(); });
  }
  void GoAway(std::chrono::milliseconds duration) {
    loop_.Post([this, duration] { http_.GoAway(duration); });
  }

 private:
  // Ends the loop once all connections have ended, or time is up.
  void AwaitIdle(std::chrono::milliseconds left);
  void Serve(Request request, const HttpServer::Respond& respond);
  // `info` is nullopt where it isn't for a resource.
  Reply Handle(const Request& request, const std::optional<RequestInfo>& info);
  Reply HandleOther(const Request& request);

  boost::asio::io_context io_{1};
  AsioLoop loop_{io_};
  Store store_;
  Registry registry_{store_, loop_};
  Rest rest_{registry_};
  Metrics metrics_;
  Faults faults_;
  Control control_{
      faults_, store_, metrics_,
      [this](std::chrono::milliseconds duration) { http_.GoAway(duration); }};
  NamespaceController namespaces_{registry_};
  GarbageCollector garbage_collector_{registry_};
  DisruptionController disruption_{registry_};
  std::optional<NodeController> nodes_;
  std::optional<KubeletSimulator> kubelet_;
  std::optional<DeploymentController> deployments_;
  std::optional<ReplicaSetController> replica_sets_;
  // Last: its streams are of the store.
  HttpServer http_;
  const std::string url_;
};

void Server::Impl::Run() {
  while (!io_.stopped()) {
    try {
      io_.run();
    } catch (const std::exception& error) {
      // A fault of ours in one task. The others are not to suffer from it.
      spdlog::error("going on after: {}", error.what());
    }
  }
}

void Server::Impl::AwaitIdle(std::chrono::milliseconds left) {
  if (http_.idle() || left <= left.zero()) return io_.stop();
  loop_.After(kPause, [this, left] { AwaitIdle(left - kPause); });
}

void Server::Impl::Serve(Request request, const HttpServer::Respond& respond) {
  const auto info = RequestInfo::Parse(request);
  if (!info) return respond(Handle(request, info));
  const auto start = std::chrono::steady_clock::now();
  const FaultEffect effect = faults_.Strike(request, *info);
  const auto shared = std::make_shared<const Request>(std::move(request));
  Befall(
      loop_, effect, [=, this] { return Handle(*shared, info); },
      [=, this](Reply reply) {
        metrics_.Count(*shared, *info, reply.status,
                       std::chrono::steady_clock::now() - start);
        respond(std::move(reply));
      });
}

Reply Server::Impl::Handle(const Request& request,
                           const std::optional<RequestInfo>& info) {
  try {
    Reply reply = info ? rest_.Handle(request, *info) : HandleOther(request);
    // As Go's encoder ends what it writes.
    if (!reply.body.empty() &&
        reply.content_type.starts_with("application/json")) {
      reply.body += "\n";
    }
    return reply;
  } catch (const StatusError& error) {
    return ErrorReply(error);
  } catch (const std::exception& error) {
    return ErrorReply({500,
                       "InternalError",
                       "Internal error occurred: " + std::string(error.what()),
                       {{"causes", {{{"message", error.what()}}}}}});
  }
}

Reply Server::Impl::HandleOther(const Request& request) {
  if (Control::Owns(request)) return control_.Handle(request);
  if (request.method != "GET" && request.method != "HEAD") {
    throw StatusError(
        405, "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
        Json::object());
  }
  const std::string& path = request.path;
  if (auto health = Health(request)) return *std::move(health);
  if (path == "/version") return JsonReply(VersionInfo());
  if (path == "/metrics") {
    Reply reply = TextReply(metrics_.Text());
    reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
    return reply;
  }
  std::vector<std::string> parts;
  boost::split(parts, path, [](char c) { return c == '/'; });
  parts.erase(parts.begin());
  if (parts.size() > 1 && parts.back().empty()) parts.pop_back();
  if (parts[0] == "api" && parts.size() == 1) {
    return Discovery(request, ApiVersions(url_.substr(url_.find("//") + 2)),
                     true);
  }
  if (parts[0] == "apis" && parts.size() == 1) {
    return Discovery(request, ApiGroupList(), false);
  }
  if (parts[0] == "api" && parts.size() == 2) {
    if (parts[1] != "v1") throw PathNotFound();
    return JsonReply(ApiResourceList("", parts[1]));
  }
  if (parts[0] == "apis" && parts.size() == 2 && IsServed(parts[1])) {
    return JsonReply(ApiGroup(parts[1]));
  }
  if (parts[0] == "apis" && parts.size() == 3 && IsServed(parts[1], parts[2])) {
    return JsonReply(ApiResourceList(parts[1], parts[2]));
  }
  if (parts[0] == "openapi" && parts.size() == 2 && parts[1] == "v3") {
    return JsonReply(OpenApiV3Index());
  }
  if (path == "/openapi/v2") return OpenApiV2(request);
  if (path == "/openapi/v3/api/v1") return JsonReply(OpenApiV3("", "v1"));
  if (path.starts_with("/openapi/v3/apis/") && parts.size() == 5 &&
      IsServed(parts[3], parts[4])) {
    return JsonReply(OpenApiV3(parts[3], parts[4]));
  }
  if (parts[0] == "api" || (parts[0] == "apis" && IsServed(parts[1]))) {
    throw PathNotFound();
  }
  return TextReply("404 page not found\n", 404);
}

void Server::Impl::Load(const std::string& manifest,
                        const std::string& source) {
  // What the controllers make at the start comes first.
  io_.poll();
  io_.restart();
  std::string what = source;
  try {
    for (Json& object : ObjectsOf(manifest)) {
      const std::string kind = GetString(object, "kind");
      what = source + ": " + kind + " " + NameOf(object);
      const ResourceRow* row = FindKind(GetString(object, "apiVersion"), kind);
      if (row == nullptr) {
        throw std::runtime_error("no such kind here: apiVersion \"" +
                                 GetString(object, "apiVersion") +
                                 "\", kind \"" + kind + "\"");
      }
      std::string ns = row->namespaced ? NamespaceOf(object) : "";
      if (row->namespaced && ns.empty()) ns = "default";
      const auto unknown =
          Normalize(object, *Schema::Get().Find(row->ApiVersion(), row->kind));
      if (!unknown.empty()) throw std::runtime_error(unknown.front());
      if (&StorageRow(*row) != row) object = FromEventsV1(std::move(object));
      registry_.Create(*row, ns, std::move(object));
    }
  } catch (const std::exception& error) {
    throw std::runtime_error(what + ": " + error.what());
  }
}

Server::Server(const ServerOptions& options) {
  try {
    impl_ = std::make_unique<Impl>(options);
  } catch (const boost::system::system_error& error) {
    throw std::runtime_error("cannot listen on " + options.address + ":" +
                             std::to_string(options.port) + ": " +
                             error.code().message());
  }
}

Server::~Server() = default;

const std::string& Server::url() const { return impl_->url(); }

std::string Server::Kubeconfig() const {
  return "apiVersion: v1\n"
         "kind: Config\n"
         "current-context: minisched\n"
         "clusters:\n"
         "- name: minisched\n"
         "  cluster:\n"
         "    server: " +
         url() +
         "\n"
         "contexts:\n"
         "- name: minisched\n"
         "  context:\n"
         "    cluster: minisched\n"
         "    user: minisched\n"
         "users:\n"
         "- name: minisched\n"
         "  user: {}\n";
}

void Server::Load(const std::string& manifest, const std::string& source) {
  impl_->Load(manifest, source);
}

void Server::SetFaults(const std::string& document, const std::string& source) {
  try {
    impl_->SetFaults(Faults::Parse(document));
  } catch (const ParseError& error) {
    throw std::runtime_error(source + ": " + error.what());
  }
}

void Server::Compact() { impl_->Compact(); }
void Server::GoAway(std::chrono::milliseconds duration) {
  impl_->GoAway(duration);
}
void Server::Run() { impl_->Run(); }
void Server::Stop() { impl_->Stop(); }

}  // namespace minisched::apiserver
