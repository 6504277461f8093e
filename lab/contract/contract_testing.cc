#include "lab/contract/contract_testing.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <random>
#include <sstream>
#include <thread>
#include <utility>

#include "lab/contract/by_design.h"
#include "lab/contract/server_testing.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Field;
using testing::Matcher;

constexpr auto kTimeout = 60s;

// The root path of a resource, and whether the resource is namespaced.
struct Place {
  std::string_view resource;
  std::string_view root;
  bool namespaced;
};

constexpr Place kPlaces[] = {
    {"bindings", "/api/v1", true},
    {"configmaps", "/api/v1", true},
    {"endpoints", "/api/v1", true},
    {"events", "/api/v1", true},
    {"limitranges", "/api/v1", true},
    {"namespaces", "/api/v1", false},
    {"nodes", "/api/v1", false},
    {"persistentvolumeclaims", "/api/v1", true},
    {"persistentvolumes", "/api/v1", false},
    {"pods", "/api/v1", true},
    {"replicationcontrollers", "/api/v1", true},
    {"secrets", "/api/v1", true},
    {"serviceaccounts", "/api/v1", true},
    {"services", "/api/v1", true},
    {"daemonsets", "/apis/apps/v1", true},
    {"deployments", "/apis/apps/v1", true},
    {"replicasets", "/apis/apps/v1", true},
    {"statefulsets", "/apis/apps/v1", true},
    {"cronjobs", "/apis/batch/v1", true},
    {"jobs", "/apis/batch/v1", true},
    {"leases", "/apis/coordination.k8s.io/v1", true},
    {"endpointslices", "/apis/discovery.k8s.io/v1", true},
    {"ingressclasses", "/apis/networking.k8s.io/v1", false},
    {"ingresses", "/apis/networking.k8s.io/v1", true},
    {"networkpolicies", "/apis/networking.k8s.io/v1", true},
    {"runtimeclasses", "/apis/node.k8s.io/v1", false},
    {"poddisruptionbudgets", "/apis/policy/v1", true},
    {"clusterrolebindings", "/apis/rbac.authorization.k8s.io/v1", false},
    {"clusterroles", "/apis/rbac.authorization.k8s.io/v1", false},
    {"rolebindings", "/apis/rbac.authorization.k8s.io/v1", true},
    {"roles", "/apis/rbac.authorization.k8s.io/v1", true},
    {"deviceclasses", "/apis/resource.k8s.io/v1", false},
    {"devicetaintrules", "/apis/resource.k8s.io/v1", false},
    {"resourceclaims", "/apis/resource.k8s.io/v1", true},
    {"resourceslices", "/apis/resource.k8s.io/v1", false},
    {"priorityclasses", "/apis/scheduling.k8s.io/v1", false},
    {"csidrivers", "/apis/storage.k8s.io/v1", false},
    {"csinodes", "/apis/storage.k8s.io/v1", false},
    {"csistoragecapacities", "/apis/storage.k8s.io/v1", true},
    {"storageclasses", "/apis/storage.k8s.io/v1", false},
    {"volumeattachments", "/apis/storage.k8s.io/v1", false},
};

HttpRequest ToRequest(std::string method, const std::string& path,
                      std::string body, Headers headers) {
  HttpRequest request{.method = std::move(method),
                      .path = path.substr(0, path.find('?')),
                      .headers = std::move(headers),
                      .body = std::move(body)};
  if (request.path.size() == path.size()) return request;
  std::istringstream query(path.substr(request.path.size() + 1));
  for (std::string term; std::getline(query, term, '&');) {
    const std::size_t equals = std::min(term.find('='), term.size());
    request.query.emplace_back(
        term.substr(0, equals),
        equals < term.size() ? term.substr(equals + 1) : "");
  }
  return request;
}

// Parses JSON without managedFields. Returns null if the text isn't JSON.
json Parse(const std::string& text) {
  json parsed = json::parse(
      text,
      [](int, json::parse_event_t event, const json& value) {
        return event != json::parse_event_t::key || value != "managedFields";
      },
      false);
  return parsed.is_discarded() ? json() : parsed;
}

// Returns "FIELD: MESSAGE" for each cause of a failure Status.
std::set<std::string> CausesOf(const Reply& reply) {
  std::set<std::string> causes;
  const json* at = &reply.body;
  for (const char* key : {"details", "causes"}) {
    if (!at->is_object() || !at->contains(key)) return {};
    at = &at->at(key);
  }
  for (const json& cause : *at) {
    EXPECT_NE(cause.value("reason", ""), "");
    causes.insert(cause.value("field", "") + ": " + cause.value("message", ""));
  }
  return causes;
}

// Returns a random name that is short enough to be part of a longer name.
std::string RandomName() {
  static std::random_device random;
  std::ostringstream name;
  name << "contract-" << std::hex << random();
  return name.str();
}

}  // namespace

Matcher<const Reply&> Answers(int status, const json& body) {
  return AllOf(Field("status", &Reply::status, status),
               Field("body", &Reply::body, JsonHas(body)));
}

Matcher<const Reply&> Refuses(int code, std::string_view reason,
                              const Matcher<const std::string&>& message,
                              const json& details) {
  json body = {{"kind", "Status"},           {"apiVersion", "v1"},
               {"metadata", json::object()}, {"status", "Failure"},
               {"message", "..."},           {"code", code}};
  body["reason"] = reason.empty() ? json() : json(reason);
  if (!details.is_null()) body["details"] = details;
  return AllOf(Answers(code, body), testing::ResultOf(
                                        "the message",
                                        [](const Reply& reply) -> std::string {
                                          return reply.body.is_object()
                                                     ? reply.body.value(
                                                           "message", "")
                                                     : "";
                                        },
                                        message));
}

Matcher<const Reply&> Invalid(const std::string& kind, const std::string& name,
                              std::vector<std::string> errors) {
  std::vector<Matcher<const std::string&>> causes;
  std::vector<Matcher<const std::string&>> parts = {
      testing::StartsWith(kind + " \"" + name + "\" is invalid: ")};
  for (std::string& error : errors) {
    const bool whole = !error.ends_with("...");
    if (!whole) error.resize(error.size() - 3);
    causes.push_back(whole ? Matcher<const std::string&>(error)
                           : testing::StartsWith(error));
    parts.emplace_back(testing::HasSubstr(error));
  }
  json details = {{"kind", kind.substr(0, kind.find('.'))}};
  if (details["kind"] == "") details["kind"] = nullptr;
  if (!name.empty()) details["name"] = name;
  return AllOf(Refuses(422, "Invalid", testing::AllOfArray(parts), details),
               testing::ResultOf("the causes", CausesOf,
                                 testing::UnorderedElementsAreArray(causes)));
}

json Named(const std::string& name, const json& change) {
  json object = {{"metadata", {{"name", name}}}};
  object.merge_patch(change);
  return object;
}

json Pod(const std::string& name, const json& change) {
  json pod = R"({"apiVersion": "v1", "kind": "Pod",
                 "spec": {"schedulerName": "contract",
                          "containers": [{"name": "c", "image": "i"}]}})"_json;
  pod["metadata"]["name"] = name;
  pod.merge_patch(change);
  return pod;
}

std::string Uid(const json& object) { return object.at("metadata").at("uid"); }

std::string Version(const json& object) {
  return object.at("metadata").at("resourceVersion");
}

std::vector<std::string> Names(const json& list) {
  std::vector<std::string> names;
  for (const json& item : list.at("items")) {
    names.push_back(item.at("metadata").at("name"));
  }
  return names;
}

std::optional<json> WatchReader::Next() {
  const auto line = stream_->ReadLine();
  if (!line) return std::nullopt;
  return Parse(*line);
}

std::vector<std::string> WatchReader::Next(int count) {
  std::vector<std::string> events;
  while (static_cast<int>(events.size()) < count) {
    const auto event = Next();
    if (!event) {
      events.emplace_back("the end");
      break;
    }
    const std::string type = event->at("type");
    if (type == "BOOKMARK") continue;
    const json& object = event->at("object");
    events.push_back(type + " " +
                     object.at("metadata").value("name", object.dump()));
  }
  return events;
}

void ContractTest::TearDown() {
  for (const std::string& path : leftovers_) {
    Delete(path, {{"gracePeriodSeconds", 0}});
  }
  if (namespace_name_.empty()) return;
  ServerUnderTest& server = ServerUnderTest::Instance();
  if (EmptyNamespace()) {
    server.empty_namespaces().push_back(namespace_name_);
  } else {
    server.DeleteLater(namespace_name_);
  }
}

Reply ContractTest::Send(const std::string& method, const std::string& path,
                         const std::string& body, const Headers& headers) {
  HttpResponse response = ServerUnderTest::Instance().transport().Send(
      ToRequest(method, Resolve(path), body, headers), {});
  json parsed = Parse(response.body);
  return {.status = response.status,
          .headers = std::move(response.headers),
          .text = std::move(response.body),
          .body = std::move(parsed)};
}

Reply ContractTest::Get(const std::string& path, const Headers& headers) {
  return Send("GET", path, "", headers);
}

Reply ContractTest::Post(const std::string& path, const json& body) {
  return Send("POST", path, body.dump());
}

Reply ContractTest::Put(const std::string& path, const json& body) {
  return Send("PUT", path, body.dump());
}

Reply ContractTest::Delete(const std::string& path, const json& options) {
  return Send("DELETE", path, options.empty() ? "" : options.dump());
}

Reply ContractTest::JsonPatch(const std::string& path, const json& patch) {
  return Send("PATCH", path, patch.dump(),
              {{"Content-Type", "application/json-patch+json"}});
}

Reply ContractTest::MergePatch(const std::string& path, const json& patch) {
  return Send("PATCH", path, patch.dump(),
              {{"Content-Type", "application/merge-patch+json"}});
}

Reply ContractTest::StrategicPatch(const std::string& path, const json& patch) {
  return Send("PATCH", path, patch.dump(),
              {{"Content-Type", "application/strategic-merge-patch+json"}});
}

json ContractTest::Create(const std::string& path, const json& body) {
  const Reply reply = Post(path, body);
  EXPECT_THAT(reply, Answers(201));
  return reply.body;
}

json ContractTest::Read(const std::string& path) {
  const Reply reply = Get(path);
  EXPECT_THAT(reply, Answers(200));
  return reply.body;
}

void ContractTest::Release(const std::string& path) {
  EXPECT_THAT(MergePatch(path, R"({"metadata": {"finalizers": null}})"_json),
              Answers(200));
}

WatchReader ContractTest::Watch(const std::string& path,
                                const Headers& headers) {
  HttpRequest request = ToRequest("GET", Resolve(path), "", headers);
  request.query.emplace_back("watch", "true");
  return WatchReader(
      ServerUnderTest::Instance().transport().Open(request, kTimeout, {}));
}

void ContractTest::Await(std::string_view what,
                         const std::function<bool()>& check) {
  const auto deadline = std::chrono::steady_clock::now() + kTimeout;
  while (!check()) {
    if (std::chrono::steady_clock::now() > deadline) {
      FAIL() << "timed out waiting for " << what;
    }
    std::this_thread::sleep_for(20ms);
  }
}

bool ContractTest::EmptyNamespace() {
  // Only these resources can be emptied: for others, controllers may create
  // more objects. Of these, a controller creates only the config map
  // kube-root-ca.crt.
  for (const std::string& resource : used_) {
    if (resource != "pods" && resource != "configmaps" &&
        resource != "leases" && resource != "bindings") {
      return false;
    }
  }
  used_.erase("bindings");
  return std::all_of(used_.begin(), used_.end(), [&](const auto& resource) {
    Delete(resource + "?fieldSelector=metadata.name!=kube-root-ca.crt",
           {{"gracePeriodSeconds", 0}});
    return Read(resource + "?fieldSelector=metadata.name!=kube-root-ca.crt")
        .at("items")
        .empty();
  });
}

const std::string& ContractTest::namespace_name() {
  if (!namespace_name_.empty()) return namespace_name_;
  auto& empty = ServerUnderTest::Instance().empty_namespaces();
  if (empty.empty()) {
    namespace_name_ = RandomName();
    Create("namespaces", Named(namespace_name_));
  } else {
    namespace_name_ = std::move(empty.back());
    empty.pop_back();
  }
  return namespace_name_;
}

std::string ContractTest::Unique(const std::string& name) {
  return name + "-" + RandomName();
}

bool ContractTest::DiffersByDesign() {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  const std::string test =
      std::string(info->test_suite_name()) + "." + info->name();
  EXPECT_TRUE(
      std::any_of(std::begin(kByDesign), std::end(kByDesign),
                  [&](const auto& known) { return known.test == test; }))
      << "by_design.h has no " << test;
  return ServerUnderTest::Instance().embedded();
}

std::string ContractTest::Resolve(const std::string& path) {
  if (path.starts_with('/')) {
    if (!namespace_name_.empty() &&
        path.find(namespace_name_) != std::string::npos) {
      used_.insert(path);
    }
    return path;
  }
  const std::string resource = path.substr(0, path.find_first_of("/?"));
  for (const Place& place : kPlaces) {
    if (place.resource != resource) continue;
    std::string result(place.root);
    if (place.namespaced) {
      result += "/namespaces/" + namespace_name();
      used_.insert(resource);
    }
    return result + "/" + path;
  }
  throw std::invalid_argument("no resource " + resource);
}

}  // namespace minisched
