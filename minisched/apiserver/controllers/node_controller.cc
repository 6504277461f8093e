#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "minisched/apiserver/controllers/controllers.h"
#include "minisched/apiserver/controllers/kubelet_admission.h"

namespace minisched::apiserver {
namespace {

// How long a node has to be gone until its pods are.
constexpr std::chrono::seconds kQuarantine{40};

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

const Json& TaintsOf(const Json& node) { return Get(node, "spec", "taints"); }

// Sees to it that the taint is there, or isn't.
void SetTaint(Json& taints, const char* key, const char* effect, bool wanted,
              const std::string& now) {
  const auto found =
      std::find_if(taints.begin(), taints.end(), [&](const Json& taint) {
        return Get(taint, "key") == key && Get(taint, "effect") == effect;
      });
  if (wanted && found == taints.end()) {
    taints.push_back({{"key", key}, {"effect", effect}, {"timeAdded", now}});
  } else if (!wanted && found != taints.end()) {
    taints.erase(found);
  }
}

void SetTaints(Json& node, const std::string& now) {
  Json taints = TaintsOf(node).is_null() ? Json::array() : TaintsOf(node);
  SetTaint(taints, "node.kubernetes.io/unschedulable", "NoSchedule",
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

class NodeController : public Controller {
 public:
  explicit NodeController(Registry& registry)
      : Controller(registry), pods_(store_, "pods", NodeOfPod) {
    Watch("nodes", [this](const Event& e) {
      Enqueue(*e.object);
      if (e.type == Event::Type::kModified &&
          TaintsOf(*e.previous) == TaintsOf(*e.object)) {
        return;
      }
      for (const auto& [uid, pod] : pods_[NameOf(*e.object)]) Enqueue(*pod);
    });
    Watch("pods", [this](const Event& e) {
      if (e.type == Event::Type::kDeleted) due_.erase(UidOf(*e.object));
      if (!e.previous || NodeOfPod(*e.previous) != NodeOfPod(*e.object)) {
        Enqueue(*e.object);
      }
    });
  }

 private:
  void Sync(const ObjectKey& key) override {
    const Object object = Find(key);
    if (!object) return;
    if (key.row == &Nodes()) {
      Edit(key, "", [&](Json& node) { SetTaints(node, registry_.Now()); });
    } else if (!NodeOfPod(*object).empty()) {
      SyncPod(key, *object);
    }
  }

  // Deletes the pod if it is time to.
  void SyncPod(const ObjectKey& key, const Json& pod) {
    const Object node =
        Find({&Nodes(), "", GetString(pod, "spec", "nodeName")});
    const auto stays = node ? ToleratedFor(pod, *node) : kQuarantine;
    if (!stays) {
      due_.erase(UidOf(pod));
      return;
    }
    const Time now = registry_.loop().Now();
    Time& due = due_.try_emplace(UidOf(pod), now + *stays).first->second;
    due = std::min(due, now + *stays);
    if (due > now) {
      return EnqueueAfter(
          std::chrono::ceil<std::chrono::milliseconds>(due - now), key);
    }
    DeleteOptions options;
    if (!node) options.grace_period = 0;
    if (!node || !IsTerminating(pod)) {
      registry_.Delete(*key.row, key.ns, key.name, options);
    }
  }

  Index pods_;  // by node
  // When pods are to go, by uid.
  std::map<std::string, Time> due_;
};

}  // namespace

std::unique_ptr<Controller> NewNodeController(Registry& registry) {
  return std::make_unique<NodeController>(registry);
}

}  // namespace minisched::apiserver
