#include "minisched/apiserver/node_controller.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "minisched/apiserver/kubelet_admission.h"
#include "minisched/apiserver/pods.h"

namespace minisched::apiserver {
namespace {

// How long a node has to be gone until its pods are.
constexpr std::chrono::seconds kQuarantine{40};

constexpr char kUnschedulable[] = "node.kubernetes.io/unschedulable";

// Labels that follow another one.
constexpr std::pair<const char*, const char*> kLabels[] = {
    {"kubernetes.io/arch", "beta.kubernetes.io/arch"},
    {"kubernetes.io/os", "beta.kubernetes.io/os"},
};

// The taints that conditions make.
constexpr struct {
  const char* type;
  const char* status;
  const char* taint;
  bool evicts = false;
} kConditionTaints[] = {
    {"Ready", "False", "node.kubernetes.io/not-ready", true},
    {"Ready", "Unknown", "node.kubernetes.io/unreachable", true},
    {"MemoryPressure", "True", "node.kubernetes.io/memory-pressure"},
    {"DiskPressure", "True", "node.kubernetes.io/disk-pressure"},
    {"PIDPressure", "True", "node.kubernetes.io/pid-pressure"},
    {"NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"},
};

const ResourceRow& Nodes() { return GetResource("", "nodes"); }
const ResourceRow& Pods() { return GetResource("", "pods"); }

std::vector<std::string> NodeOf(const Json& pod) {
  std::string node = GetString(pod, "spec", "nodeName");
  if (node.empty()) return {};
  return {std::move(node)};
}

const Json& TaintsOf(const Json& node) { return Get(node, "spec", "taints"); }

// Sees to it that the taint is there, or isn't.
void SetTaint(Json& taints, const char* key, const char* effect, bool wanted,
              const std::string& now) {
  const auto is_it = [&](const Json& taint) {
    return Get(taint, "key") == key && Get(taint, "effect") == effect;
  };
  const auto found = std::find_if(taints.begin(), taints.end(), is_it);
  if (wanted && found == taints.end()) {
    taints.push_back({{"key", key}, {"effect", effect}, {"timeAdded", now}});
  } else if (!wanted && found != taints.end()) {
    taints.erase(found);
  }
}

void SetTaints(Json& node, const std::string& now) {
  Json taints = TaintsOf(node).is_null() ? Json::array() : TaintsOf(node);
  SetTaint(taints, kUnschedulable, "NoSchedule",
           GetBool(node, "spec", "unschedulable"), now);
  const Json& conditions = Get(node, "status", "conditions");
  for (const auto& row : kConditionTaints) {
    const bool wanted =
        Get(FindBy(conditions, "type", row.type), "status") == row.status;
    SetTaint(taints, row.taint, "NoSchedule", wanted, now);
    if (row.evicts) SetTaint(taints, row.taint, "NoExecute", wanted, now);
  }
  node["spec"]["taints"] = std::move(taints);
}

void SetMetadata(Json& metadata) {
  for (const auto& [from, to] : kLabels) {
    const Json& value = Get(metadata, "labels", from);
    if (!value.is_null()) metadata["labels"][to] = value;
  }
  // How long kubelets may keep secrets: not at all, in small clusters.
  Json& ttl = metadata["annotations"]["node.alpha.kubernetes.io/ttl"];
  if (ttl.is_null()) ttl = "0";
}

// How long the pod may stay for the taints that are there; nullopt for as long
// as it likes.
std::optional<std::chrono::seconds> ToleratedFor(const Json& pod,
                                                 const Json& node) {
  using std::chrono::seconds;
  if (!FindUntoleratedTaint(node, pod, "NoExecute").is_null()) return seconds();
  std::optional<seconds> shortest;
  const Json& tolerations = Get(pod, "spec", "tolerations");
  for (const Json& taint : TaintsOf(node)) {
    if (Get(taint, "effect") != "NoExecute") continue;
    // The first that tolerates it counts.
    const auto toleration =
        std::find_if(tolerations.begin(), tolerations.end(),
                     [&](const Json& t) { return Tolerates(t, taint); });
    if (Get(*toleration, "tolerationSeconds").is_null()) continue;
    const seconds time(std::clamp<std::int64_t>(
        GetInt(*toleration, "tolerationSeconds"), 0, 1'000'000'000));
    shortest = std::min(shortest.value_or(time), time);
  }
  return shortest;
}

}  // namespace

NodeController::NodeController(Registry& registry)
    : Controller(registry),
      recorder_(registry, "node-controller"),
      evictions_(registry, "taint-eviction-controller"),
      pods_(store_, CollectionOf(Pods()), NodeOf) {
  Watch(CollectionOf(Nodes()), [this](const Event& e) {
    Enqueue(*e.object);
    if (e.previous && TaintsOf(*e.previous) == TaintsOf(*e.object)) return;
    for (const auto& [uid, pod] : pods_[NameOf(*e.object)]) Enqueue(*pod);
  });
  Watch(CollectionOf(Pods()), [this](const Event& e) {
    if (e.type == Event::Type::kDeleted) due_.erase(UidOf(*e.object));
    const auto node = NodeOf(*e.object);
    if (node.empty() || (e.previous && NodeOf(*e.previous) == node)) return;
    Enqueue(*e.object);
  });
}

void NodeController::Sync(const ObjectKey& key) {
  const Object object = Find(key);
  if (key.row == &Nodes()) {
    SyncNode(key, object);
  } else if (object && !IsTerminating(*object)) {
    SyncPod(key, *object);
  }
}

void NodeController::SyncNode(const ObjectKey& key, const Object& node) {
  Object& known = known_[key.name];
  const auto announce = [&](const std::string& reason,
                            const std::string& what) {
    recorder_.Record(*known, "Normal", reason,
                     "Node " + key.name + " event: " + what);
  };
  if (known && (!node || UidOf(*node) != UidOf(*known))) {
    announce("RemovingNode", "Removing Node " + key.name + " from Controller");
    known = nullptr;
    if (!node) EnqueueAfter(kQuarantine, key);
  } else if (!known && !node) {
    known_.erase(key.name);
    const auto pods = pods_[key.name];
    for (const auto& [uid, pod] : pods) {
      Disrupt(*pod, "DeletionByPodGC", "PodGC: node no longer exists", true);
    }
  }
  if (!node) return;
  if (!known) {
    known = node;
    announce("RegisteredNode",
             "Registered Node " + key.name + " in Controller");
  }
  Edit(key, "", [&](Json& edited) {
    SetMetadata(edited["metadata"]);
    SetTaints(edited, registry_.Now());
  });
}

void NodeController::SyncPod(const ObjectKey& key, const Json& pod) {
  const ObjectKey node_key{&Nodes(), "", GetString(pod, "spec", "nodeName")};
  const Object node = Find(node_key);
  if (!node) return EnqueueAfter(kQuarantine, node_key);
  const auto tolerated = ToleratedFor(pod, *node);
  if (!tolerated) {
    due_.erase(UidOf(pod));
    return;
  }
  const Time now = registry_.loop().Now();
  Time& due = due_.try_emplace(UidOf(pod), now + *tolerated).first->second;
  due = std::min(due, now + *tolerated);
  if (due > now) {
    return EnqueueAfter(std::chrono::ceil<std::chrono::milliseconds>(due - now),
                        key);
  }
  evictions_.Record(pod, "Normal", "TaintManagerEviction",
                    "Marking for deletion Pod " + key.ns + "/" + key.name);
  Disrupt(pod, "DeletionByTaintManager",
          "Taint manager: deleting due to NoExecute taint", false);
}

void NodeController::Disrupt(const Json& pod, const std::string& reason,
                             const std::string& message, bool node_is_gone) {
  const ObjectKey key = KeyOf(pod);
  const std::string phase = GetString(pod, "status", "phase");
  if (phase != "Succeeded" && phase != "Failed") {
    Edit(key, "status", [&](Json& edited) {
      if (node_is_gone) edited["status"]["phase"] = "Failed";
      SetPodCondition(edited, "DisruptionTarget", "True", reason, message,
                      registry_.Now());
    });
  }
  DeleteOptions options;
  if (node_is_gone) options.grace_period = 0;
  registry_.Delete(Pods(), key.ns, key.name, options);
}

}  // namespace minisched::apiserver
