#include "lab/live/api_proxy.h"

#include <algorithm>
#include <array>
#include <regex>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/live/access.h"
#include "lab/live/json.h"
#include "minisched/api/document.h"
#include "minisched/api/json.h"
#include "minisched/api/names.h"
#include "minisched/api/parse_error.h"
#include "minisched/api/yaml.h"

namespace minisched::live {
namespace {

using http::Reply;
using http::Request;

constexpr std::array kShown = {
    ApiResource{"", "v1", "namespaces", "Namespace", false},
    ApiResource{"scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass",
                false},
    ApiResource{"storage.k8s.io", "v1", "storageclasses", "StorageClass",
                false},
    ApiResource{"", "v1", "persistentvolumes", "PersistentVolume", false},
    ApiResource{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim",
                true},
    ApiResource{"", "v1", "nodes", "Node", false},
    ApiResource{"", "v1", "pods", "Pod", true},
    ApiResource{"apps", "v1", "replicasets", "ReplicaSet", true},
    ApiResource{"apps", "v1", "deployments", "Deployment", true},
    ApiResource{"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget",
                true}};
constexpr ApiResource kEvents{"", "v1", "events", "Event", true};

constexpr std::array<std::string_view, 7> kQueries = {
    "fieldSelector",      "labelSelector",     "limit",        "continue",
    "gracePeriodSeconds", "propagationPolicy", "includeObject"};

constexpr const char* kYaml = "application/yaml";
// Asks for a table with kubectl's columns.
constexpr const char* kTables =
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

// Returns the object as YAML, without what only servers write and read.
std::string EditableYaml(const std::string& body) {
  Json object = Json::parse(body);
  if (const auto metadata = object.find("metadata"); metadata != object.end()) {
    metadata->erase("managedFields");
  }
  return ToYaml(object);
}

std::vector<std::pair<std::string, std::string>> PassedQuery(
    const Request& request) {
  for (const auto& [name, value] : request.query) {
    if (std::ranges::find(kQueries, name) == kQueries.end()) {
      throw ParseError("the parameter " + Quoted(name) +
                       " is not passed on: leave it out");
    }
  }
  return {request.query.begin(), request.query.end()};
}

// Returns the body, converted to JSON if it is YAML.
std::string JsonBody(const Request& request) {
  if (request.ContentType() != kYaml) return request.body;
  auto documents = YamlToJson(request.body);
  if (documents.size() == 1) return std::move(documents[0]);
  throw ParseError("expected one YAML document, found " +
                   std::to_string(documents.size()));
}

}  // namespace

std::span<const ApiResource> ShownResources() { return kShown; }

std::optional<std::string> ApiPath(const std::string& method,
                                   const std::string& path) {
  // "", "api", "v1" or "", "apis", group, "v1"; then perhaps "namespaces" and a
  // name; then the plural; then perhaps the name of an object.
  std::vector<std::string> parts = http::Split(path, '/');
  std::size_t next = path.starts_with("/apis/") ? 4 : 3;
  std::string namespace_name;
  if (parts.size() > next + 2 && parts[next] == "namespaces") {
    namespace_name = parts[next + 1];
    next += 2;
    if (!CheckDns1123Label(namespace_name).empty()) return std::nullopt;
  }
  const bool has_name = parts.size() == next + 2;
  if (!has_name && parts.size() != next + 1) return std::nullopt;
  const std::string name = has_name ? parts[next + 1] : "";
  if (has_name && !CheckDns1123Subdomain(name).empty()) return std::nullopt;
  const bool fits =
      has_name ? method == "PUT" || method == "DELETE" : method == "POST";
  if (!fits && method != "GET") return std::nullopt;
  const auto is_target = [&](const ApiResource& resource) {
    return (!has_name || resource.namespaced == !namespace_name.empty()) &&
           resource.Path(namespace_name, name) == path;
  };
  const bool allowed = std::ranges::any_of(kShown, is_target) ||
                       (method == "GET" && is_target(kEvents));
  return allowed ? std::optional(path) : std::nullopt;
}

void PassToApi(Client& client, const Request& request,
               std::function<void(Reply)> respond) {
  const auto path = ApiPath(request.method, request.path);
  if (!path) {
    return respond(ErrorReply(
        404, request.method + " " + Quoted(request.path) +
                 " is not passed on: only objects of ten kinds are, such as "
                 "/live/api/api/v1/nodes/NAME"));
  }
  Client::Request passed{.method = request.method, .path = *path};
  try {
    passed.query = PassedQuery(request);
    passed.body = JsonBody(request);
  } catch (const ParseError& error) {
    return respond(YamlErrorReply(error.what()));
  }
  const std::string accept = request.Header("accept");
  if (accept == kTables) passed.accept = kTables;
  const bool as_yaml = request.method == "GET" && accept.starts_with(kYaml);
  const int status = request.method == "POST" ? 201 : 200;
  client.SendAsync(
      std::move(passed), {},
      [respond = std::move(respond), as_yaml,
       status](ClientResult<std::string> result) {
        if (!result) {
          respond(FailureReply(result.error()));
        } else if (as_yaml) {
          respond({.content_type = kYaml, .body = EditableYaml(*result)});
        } else {
          respond({.status = status, .body = *std::move(result)});
        }
      });
}

Reply YamlErrorReply(const std::string& message) {
  static const std::regex kPlace("line ([0-9]{1,9}), column ([0-9]{1,9}):");
  Json error = {{"error", message}};
  std::smatch place;
  if (std::regex_search(message, place, kPlace)) {
    error["line"] = std::stoi(place[1]);
    error["column"] = std::stoi(place[2]);
  }
  return {.status = 400, .body = Dump(error)};
}

Reply FailureReply(const ClientError& error) {
  if (error.As<Cancelled>()) {
    return ErrorReply(503, "the program is stopping");
  }
  const auto* refused = error.As<ApiError>();
  if (refused == nullptr) return ErrorReply(502, error.what());
  Json status = Json::parse(ToJson(refused->status()));
  status["kind"] = "Status";
  status["apiVersion"] = "v1";
  return {.status = refused->code(), .body = Dump(status)};
}

}  // namespace minisched::live
