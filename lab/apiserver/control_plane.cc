#include "lab/apiserver/control_plane.h"

#include <fmt/format.h>

#include <boost/algorithm/string.hpp>
#include <map>
#include <stdexcept>
#include <utility>

#include "lab/apiserver/controllers/controller.h"
#include "lab/apiserver/discovery.h"
#include "lab/apiserver/errors.h"
#include "lab/apiserver/http.h"
#include "lab/apiserver/rest.h"
#include "minisched/api/parse_error.h"
#include "minisched/api/yaml.h"

namespace minisched::apiserver {
namespace {

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
  // The response at this path depends on the Accept header, and a cache must
  // respect that.
  reply.headers.emplace_back("Vary", "Accept");
  return reply;
}

// Returns the error for a path that this server does not serve. For `kubectl
// logs`, `kubectl exec` and the like, the error says why.
StatusError NotServed(const std::string& path) {
  constexpr const char* kNoContainers =
      "this server only simulates pods: no container runs";
  static const std::map<std::string, const char*> kWhy = {
      {"pods/attach", kNoContainers},
      {"pods/ephemeralcontainers", kNoContainers},
      {"pods/exec", kNoContainers},
      {"pods/log", kNoContainers},
      {"pods/portforward", kNoContainers},
      {"pods/proxy", kNoContainers},
      {"serviceaccounts/token",
       "this server has no authentication: clients need no token"},
      {"services/proxy", kNoContainers},
  };
  // "", "api", "v1", "namespaces", NAMESPACE, RESOURCE, NAME, SUBRESOURCE, …
  const auto parts = Split(path, '/');
  if (parts.size() < 8 || parts[3] != "namespaces") return PathNotFound();
  const auto why = kWhy.find(parts[5] + "/" + parts[7]);
  if (why == kWhy.end()) return PathNotFound();
  return {501, "NotImplemented", why->first + ": " + why->second};
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

// Returns "Pod default/web", or less if the object has less.
std::string TitleOf(const Json& object) {
  const std::string ns = NamespaceOf(object);
  return GetString(object, "kind") + " " + (ns.empty() ? "" : ns + "/") +
         NameOf(object);
}

}  // namespace

ControlPlane::ControlPlane(Loop& loop, const ServerOptions& options,
                           GoAway go_away)
    : loop_(loop),
      registry_(store_, loop),
      control_{faults_, store_, metrics_, std::move(go_away)} {
  for (const Json& priority_class : kSystemPriorityClasses) {
    registry_.Create(GetResource("scheduling.k8s.io", "priorityclasses"), "",
                     priority_class);
  }
  const auto run = [this](auto* make_controller) {
    controllers_.push_back(make_controller(registry_));
  };
  if (options.controllers) {
    run(NewNamespaceController);
    run(NewGarbageCollector);
    run(NewDisruptionController);
    run(NewVolumeProtection);
  }
  if (options.simulate_kubelet) run(NewKubeletSimulator);
  if (options.simulate_workloads) {
    run(NewDeploymentController);
    run(NewReplicaSetController);
  }
  if (options.simulate_volumes) {
    const auto faults_of = [this](const char* verb) {
      return [=, this](const ObjectKey& claim) {
        RequestInfo info{.row = claim.row, .ns = claim.ns, .name = claim.name};
        info.verb = verb;
        return faults_.Select({}, info);
      };
    };
    controllers_.push_back(NewVolumeController(registry_, faults_of(kBind)));
    run(NewEphemeralVolumeController);
    controllers_.push_back(
        NewVolumeProvisioner(registry_, faults_of(kProvision)));
  }
}

void ControlPlane::Serve(Request request, const Respond& respond) {
  const auto info = RequestInfo::Parse(request);
  if (!info) return respond(Handle(request, info));
  const auto start = std::chrono::steady_clock::now();
  const FaultEffect effect = faults_.Select(request, *info);
  const auto shared = std::make_shared<const Request>(std::move(request));
  ApplyEffect(
      loop_, effect, [=, this] { return Handle(*shared, info); },
      [=, this](Reply reply) {
        metrics_.Count(*shared, *info, reply.status,
                       std::chrono::steady_clock::now() - start);
        respond(std::move(reply));
      });
}

Reply ControlPlane::Handle(const Request& request,
                           const std::optional<RequestInfo>& info) {
  try {
    return info ? ServeResource(registry_, request, *info)
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

Reply ControlPlane::HandleOther(const Request& request) {
  if (Control::Owns(request)) return control_.Handle(request);
  Reply document = DocumentAt(request);
  if (request.method != "GET") throw MethodNotAllowed();
  return document;
}

Reply ControlPlane::DocumentAt(const Request& request) {
  const std::string path =
      boost::trim_right_copy_if(request.path, boost::is_any_of("/"));
  if (path == "/healthz" || path == "/livez" || path == "/readyz") {
    return TextReply("ok");
  }
  if (path == "/metrics") {
    Reply reply = TextReply(metrics_.Text());
    reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
    return reply;
  }
  if (path == "/openapi/v2") return OpenApiV2();
  static const auto& all_aggregated = *new auto(AggregatedDiscoveryDocuments());
  const auto aggregated = all_aggregated.find(path);
  if (aggregated != all_aggregated.end() &&
      AcceptsAggregatedDiscovery(request)) {
    return AggregatedDiscovery(aggregated->second);
  }
  if (documents_.empty()) documents_ = DiscoveryDocuments(address_);
  const auto document = documents_.find(path);
  if (document == documents_.end()) throw NotServed(path);
  return JsonReply(document->second);
}

void ControlPlane::Load(const std::string& manifest,
                        const std::string& source) {
  std::string what = source;
  try {
    const std::vector<Json> objects = ObjectsOf(manifest);
    for (const Json& object : objects) {
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
      if (kind == "Namespace" &&
          store_.Find(CollectionOf(*row), {"", NameOf(object)})) {
        continue;  // one that every cluster has
      }
      const Request request{.query = {{"fieldValidation", "Strict"}},
                            .headers = {{"content-type", "application/json"}},
                            .body = Dump(object)};
      ServeResource(registry_, request, info);
    }
    for (const Json& object : objects) LinkToOwners(object);
  } catch (const std::exception& error) {
    throw std::runtime_error(what + ": " + error.what());
  }
}

void ControlPlane::LinkToOwners(const Json& object) {
  if (Get(object, "metadata", "ownerReferences").empty()) return;
  const ResourceRow& row = *KeyOf(object).row;
  std::string ns = NamespaceOf(object);
  if (row.namespaced && ns.empty()) ns = "default";
  registry_.Update(row, "", ns, NameOf(object), [this](const Json& created) {
    Json linked = created;
    for (Json& reference : linked["metadata"]["ownerReferences"]) {
      const ObjectKey key = OwnerOf(created, reference);
      if (key.row == nullptr) continue;
      const Object owner =
          store_.Find(CollectionOf(*key.row), {key.ns, key.name});
      if (owner) reference["uid"] = UidOf(*owner);
    }
    return linked;
  });
}

std::vector<std::string> ControlPlane::Restore(const std::string& manifest,
                                               const std::string& source) {
  std::vector<Json> objects;
  try {
    objects = ObjectsOf(manifest);
  } catch (const std::exception& error) {
    throw std::runtime_error(source + ": " + error.what());
  }
  std::vector<std::string> left_out;
  for (Json& object : objects) {
    const std::string title = TitleOf(object);
    try {
      const ResourceRow* row =
          FindKind(GetString(object, "apiVersion"), GetString(object, "kind"));
      if (row == nullptr || !Registry::Stores(*row)) {
        throw ParseError("the server does not store this kind");
      }
      registry_.Restore(*row, std::move(object));
    } catch (const ParseError& error) {
      left_out.push_back(
          fmt::format("{}: {}: {}", source, title, error.what()));
    }
  }
  return left_out;
}

}  // namespace minisched::apiserver
