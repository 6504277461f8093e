#include "lab/scenario/test_bed.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <utility>

#include "lab/scenario/errors.h"
#include "lab/scenario/expectation_reader.h"

namespace minisched::scenario {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kAwaitTimeout{60};
constexpr milliseconds kLookEvery{20};

// Returns five random letters and digits that make a name unique.
std::string RandomSuffix() {
  static constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::random_device random;
  std::string suffix;
  while (suffix.size() < 5) suffix += kLetters[random() % kLetters.size()];
  return suffix;
}

// Blocks until `done` returns true. Returns false after kAwaitTimeout.
bool Await(const std::function<bool()>& done, const std::stop_token& stop) {
  const auto deadline = RealClock().Now() + kAwaitTimeout;
  while (!done()) {
    if (RealClock().Now() > deadline) return false;
    if (!RealClock().SleepFor(kLookEvery, stop)) throw Cancelled();
  }
  return true;
}

bool IsReady(const Json& node) {
  bool ready = false;
  const Json::json_pointer conditions("/status/conditions");
  for (const Json& condition : node.value(conditions, Json::array())) {
    ready |=
        condition.at("type") == "Ready" && condition.at("status") == "True";
  }
  const Json::json_pointer taints("/spec/taints");
  for (const Json& taint : node.value(taints, Json::array())) {
    ready &= taint.at("key") != "node.kubernetes.io/not-ready";
  }
  return ready;
}

// Returns a manifest that recreates the node.
Manifest ToManifest(Json node) {
  for (const char* field :
       {"uid", "resourceVersion", "creationTimestamp", "managedFields"}) {
    node["metadata"].erase(field);
  }
  return {.json = node.dump(),
          .api_version = "v1",
          .kind = "Node",
          .name = node["metadata"]["name"]};
}

// Throws CannotPlay if a pod is bound to one of the nodes, because the pod
// would lose its node.
void CheckNoPodIsOn(const Json& nodes, Client& client,
                    const std::stop_token& stop) {
  std::set<std::string> names;
  for (const Json& node : nodes.at("items")) {
    names.insert(node["metadata"]["name"]);
  }
  for (const auto& pod : client.List<Pod>({}, stop).items) {
    if (!names.contains(pod->spec.node_name)) continue;
    throw CannotPlay("the scenario would remove node " + pod->spec.node_name +
                     ", which runs pod " + pod->metadata.namespace_name + "/" +
                     pod->metadata.name +
                     ": delete the pod first, or play with --embedded");
  }
}

}  // namespace

TestBed::TestBed(Cluster& cluster, std::string scheduler_name)
    : cluster_(cluster), scheduler_name_(std::move(scheduler_name)) {}

void TestBed::SetUp(const Scenario& scenario, const std::stop_token& stop) {
  CreateNamespace(scenario.file, stop);
  if (scenario.nodes.empty()) return;
  SetNodesAside(stop);
  Create({.objects = scenario.nodes}, stop);
  AwaitReady(scenario.nodes, stop);
}

void TestBed::CreateNamespace(const std::string& file,
                              const std::stop_token& stop) {
  std::string name = "scenario-";
  for (const char c : std::filesystem::path(file).stem().string()) {
    if (name.size() >= 50) break;
    const int byte = static_cast<unsigned char>(c);
    name +=
        static_cast<char>(std::isalnum(byte) != 0 ? std::tolower(byte) : '-');
  }
  name += "-" + RandomSuffix();
  namespace_ = name;  // the namespace may exist even if Create() throws
  const Json object = {
      {"apiVersion", "v1"},
      {"kind", "Namespace"},
      {"metadata",
       {{"name", name},
        {"labels", {{"app.kubernetes.io/part-of", "minisched"}}}}}};
  cluster_.Create({object.dump(), "v1", "Namespace", name}, "", "", stop);
}

void TestBed::SetNodesAside(const std::stop_token& stop) {
  const Json nodes = Json::parse(
      cluster_.client().Send({.method = "GET", .path = "/api/v1/nodes"}, stop));
  const Json::json_pointer control_plane(
      "/metadata/labels/node-role.kubernetes.io~1control-plane");
  for (const Json& node : nodes.at("items")) {
    if (node.contains(control_plane)) {
      throw CannotPlay(
          "the scenario replaces all nodes, which needs a cluster without real "
          "machines: play it with --embedded, or on 'scripts/cluster up real'");
    }
  }
  CheckNoPodIsOn(nodes, cluster_.client(), stop);
  for (const Json& node : nodes.at("items")) {
    set_aside_.push_back(ToManifest(node));
    cluster_.DeleteOne({.kind = "Node", .name = set_aside_.back().name}, "",
                       stop);
  }
}

void TestBed::AwaitReady(const std::vector<Manifest>& nodes,
                         const std::stop_token& stop) {
  const bool ready = Await(
      [&] {
        for (const Manifest& manifest : nodes) {
          const auto node =
              cluster_.Get({.kind = "Node", .name = manifest.name}, "", stop);
          if (!node || !IsReady(Json::parse(*node))) return false;
        }
        return true;
      },
      stop);
  if (!ready) {
    throw CannotPlay(
        "the nodes did not become Ready in time: an embedded server needs "
        "--simulate for that");
  }
}

std::map<std::string, std::string> TestBed::Create(
    const scenario::Create& create, const std::stop_token& stop) {
  std::map<std::string, std::string> pods;
  for (const Manifest& object : create.objects) {
    if (stop.stop_requested()) throw Cancelled();
    const std::string uid = CreateOne(object, create.apply, stop);
    if (object.kind == "Pod") pods[object.name] = uid;
  }
  return pods;
}

std::string TestBed::CreateOne(const Manifest& object, bool apply,
                               const std::stop_token& stop) {
  // Kinds whose objects need no deletion at the end: the server deletes pods
  // and workloads with the namespace, and does not store Bindings. Objects of
  // all other kinds, even namespaced ones, are deleted one by one.
  static const std::set<std::string> kNeedNoDeletion = {
      "Pod", "Deployment", "ReplicaSet", "Binding"};
  const ObjectName name{object.api_version, object.kind, object.name};
  const bool outlives = !kNeedNoDeletion.contains(object.kind);
  const bool is_ours = IsMade(name);
  if (outlives && apply && !is_ours &&
      cluster_.Get(name, namespace_, stop).has_value()) {
    throw CannotPlay(object.kind + " " + object.name +
                     " already exists, and this scenario did not create it");
  }
  if (outlives && !is_ours) made_.push_back(name);
  try {
    return apply ? cluster_.Apply(object, namespace_, scheduler_name_, stop)
                 : cluster_.Create(object, namespace_, scheduler_name_, stop);
  } catch (const ApiError& error) {
    // Another client created the object, so don't delete it at the end.
    if (outlives && !is_ours && error.reason() == "AlreadyExists") {
      made_.pop_back();
    }
    throw CannotPlay("create " + object.kind + " " + object.name + ": " +
                     error.what());
  }
}

bool TestBed::IsMade(const ObjectName& object) const {
  return std::any_of(made_.begin(), made_.end(), [&](const ObjectName& made) {
    return made.kind == object.kind && made.name == object.name;
  });
}

void TestBed::Patch(const scenario::Patch& patch, const std::stop_token& stop) {
  const ObjectName& object = patch.object;
  if (!cluster_.IsNamespaced(object, stop) && !IsMade(object)) {
    throw CannotPlay("patch " + object.kind + " " + object.name +
                     ": this scenario did not create it");
  }
  cluster_.Patch(patch, namespace_, stop);
}

std::vector<std::string> TestBed::Delete(const scenario::Delete& deletion,
                                         const std::stop_token& stop) {
  const ObjectName& pattern = deletion.objects;
  if (cluster_.IsNamespaced(pattern, stop)) {
    return cluster_.Delete(deletion, namespace_, stop);
  }
  std::vector<std::string> deleted;
  for (const ObjectName& object : made_) {
    if (object.kind != pattern.kind ||
        !MatchesGlob(pattern.name, object.name)) {
      continue;
    }
    cluster_.DeleteOne(object, "", stop);
    deleted.push_back(object.name);
  }
  return deleted;
}

void TestBed::PutBack(const Manifest& node) {
  try {
    cluster_.Create(node, "", "", {});
  } catch (const ApiError& error) {
    // The node exists if the player was interrupted before it deleted the node.
    if (error.reason() != "AlreadyExists") throw;
  }
}

void TestBed::DeleteAll(const std::string& api_version, const std::string& kind,
                        const std::string& namespace_name) {
  // Grace 0 deletes pods at once, without waiting for a kubelet.
  cluster_.Delete({.objects = {api_version, kind, "*"}, .grace_seconds = 0},
                  namespace_name, {});
}

void TestBed::AwaitGone(const ObjectName& own) {
  const bool gone = Await(
      [&] {
        // A controller may have created one more pod in the meantime.
        DeleteAll("v1", "Pod", own.name);
        return !cluster_.Get(own, "", {}).has_value();
      },
      {});
  if (!gone) throw CannotPlay("it is still being deleted");
}

std::string TestBed::TearDown() {
  std::string failures;
  bool reachable = true;
  const auto attempt = [&](const ObjectName& object, const auto& action) {
    if (!reachable) return;
    try {
      action();
    } catch (const std::exception& error) {
      failures += (failures.empty() ? "" : "; ") + object.kind + " " +
                  object.name + ": " + error.what();
      // Once the server is unreachable, don't retry for each object.
      reachable = dynamic_cast<const TransportError*>(&error) == nullptr;
    }
  };
  const std::stop_token never;
  const ObjectName own{.kind = "Namespace",
                       .name = std::exchange(namespace_, "")};
  if (!own.name.empty()) {
    attempt(own, [&] { cluster_.RemoveFinalizersOfPods(own.name, never); });
    // Workloads first: a controller would replace the pods. If a new pod were
    // bound, it would end only with its grace period, or never.
    attempt(own, [&] { DeleteAll("apps/v1", "Deployment", own.name); });
    attempt(own, [&] { DeleteAll("apps/v1", "ReplicaSet", own.name); });
    attempt(own, [&] { DeleteAll("v1", "Pod", own.name); });
    attempt(own, [&] { cluster_.DeleteOne(own, "", never); });
  }
  for (const ObjectName& object : std::exchange(made_, {})) {
    attempt(object, [&] { cluster_.DeleteOne(object, own.name, never); });
  }
  for (const Manifest& node : std::exchange(set_aside_, {})) {
    attempt({.kind = "Node", .name = node.name}, [&] { PutBack(node); });
  }
  if (!own.name.empty()) attempt(own, [&] { AwaitGone(own); });
  return failures;
}

}  // namespace minisched::scenario
