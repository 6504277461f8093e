#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lab/apiserver/controllers/controllers.h"
#include "lab/apiserver/controllers/kubelet_admission.h"
#include "minisched/api/time.h"

namespace minisched::apiserver {
namespace {

// How long a node must be missing before its pods are deleted.
constexpr std::chrono::seconds kQuarantine{40};

const Json kNodeConditions = Json::parse(R"([
    {"type": "Ready", "status": "True", "reason": "KubeletReady",
     "message": "kubelet is posting ready status"},
    {"type": "MemoryPressure", "status": "False",
     "reason": "KubeletHasSufficientMemory",
     "message": "kubelet has sufficient memory available"},
    {"type": "DiskPressure", "status": "False",
     "reason": "KubeletHasNoDiskPressure",
     "message": "kubelet has no disk pressure"},
    {"type": "PIDPressure", "status": "False",
     "reason": "KubeletHasSufficientPID",
     "message": "kubelet has sufficient PID available"},
    {"type": "NetworkUnavailable", "status": "False", "reason": "RouteCreated",
     "message": "RouteController created a route"}])");

const Json kNodeInfo = Json::parse(R"({
    "architecture": "amd64", "operatingSystem": "linux",
    "containerRuntimeVersion": "minisched-0.1.0",
    "kernelVersion": "minisched-0.1.0", "kubeProxyVersion": "minisched-0.1.0",
    "kubeletVersion": "minisched-0.1.0"})");

// Conditions of nodes, and the keys of the taints that a node has while the
// condition is True.
constexpr std::pair<const char*, const char*> kConditionTaints[] = {
    {"MemoryPressure", "node.kubernetes.io/memory-pressure"},
    {"DiskPressure", "node.kubernetes.io/disk-pressure"},
    {"PIDPressure", "node.kubernetes.io/pid-pressure"},
    {"NetworkUnavailable", "node.kubernetes.io/network-unavailable"},
};

const ResourceRow& NodeRow() { return GetResource("", "nodes"); }

bool HasCondition(const Json& node, const char* type) {
  const Json& conditions = Get(node, "status", "conditions");
  return Get(FindBy(conditions, "type", type), "status") == "True";
}

// Sets the conditions and the phase of a running node. Fills in the other
// status fields that the node lacks.
void CompleteStatus(Json& status, const std::string& now) {
  for (Json condition : kNodeConditions) {
    condition["lastHeartbeatTime"] = now;
    SetCondition(status["conditions"], std::move(condition), now);
  }
  for (const auto& [key, value] : kNodeInfo.items()) {
    if (GetString(status, "nodeInfo", key).empty()) {
      status["nodeInfo"][key] = value;
    }
  }
  for (const char* key : {"capacity", "allocatable"}) {
    if (Get(status, key).is_null()) {
      status[key] = {{"cpu", "1k"}, {"memory", "1Ti"}, {"pods", "1M"}};
    }
  }
  status["phase"] = "Running";
}

// Adds the NoSchedule taint to the node if `present`, and removes it otherwise.
void SetTaint(Json& node, const char* key, bool present,
              const std::string& now) {
  Json& taints = node["spec"]["taints"];
  const auto found =
      std::find_if(taints.begin(), taints.end(), [&](const Json& taint) {
        return Get(taint, "key") == key && Get(taint, "effect") == "NoSchedule";
      });
  if (present && found == taints.end()) {
    taints.push_back(
        {{"key", key}, {"effect", "NoSchedule"}, {"timeAdded", now}});
  } else if (!present && found != taints.end()) {
    taints.erase(found);
  }
}

// Returns the statuses of the containers of a running pod. Init containers
// other than sidecars have completed, and all other containers run.
Json StatusesOf(const Json& containers, bool init, const std::string& now) {
  const Json running = {{"running", {{"startedAt", now}}}};
  const Json completed = {{"terminated",
                           {{"exitCode", 0},
                            {"reason", "Completed"},
                            {"startedAt", now},
                            {"finishedAt", now}}}};
  Json statuses = Json::array();
  for (const Json& container : containers) {
    const bool sidecar = init && Get(container, "restartPolicy") == "Always";
    statuses.push_back({{"name", container["name"]},
                        {"image", Get(container, "image")},
                        {"ready", true},
                        {"restartCount", 0},
                        {"state", init && !sidecar ? completed : running}});
    if (sidecar) statuses.back()["started"] = true;
  }
  return statuses;
}

void SetRunning(Json& pod, const std::string& now) {
  Json& status = pod["status"];
  Json& conditions = status["conditions"];
  const auto before = static_cast<std::ptrdiff_t>(conditions.size());
  for (const char* type : {"Initialized", "Ready", "ContainersReady"}) {
    SetCondition(conditions, {{"type", type}, {"status", "True"}}, now);
  }
  // A kubelet puts its own conditions first.
  std::rotate(conditions.begin(), conditions.begin() + before,
              conditions.end());
  for (const std::string type : {"containers", "initContainers"}) {
    const bool init = type == "initContainers";
    status[init ? "initContainerStatuses" : "containerStatuses"] =
        StatusesOf(Get(pod, "spec", type), init, now);
  }
  status["phase"] = "Running";
  status["startTime"] = now;
}

class KubeletSimulator : public Controller {
 public:
  explicit KubeletSimulator(Registry& registry)
      : Controller(registry, "kubelet"),
        pods_(store_, "pods", [](const Json& pod) {
          return std::vector{GetString(pod, "spec", "nodeName")};
        }) {
    Watch("nodes", [this](const Event& e) {
      Enqueue(*e.object);
      // The node's pods may be waiting for the node to be ready.
      for (const Object& pod : pods_[NameOf(*e.object)]) Enqueue(*pod);
    });
    Watch("pods", [this](const Event& e) {
      Enqueue(*e.object);
      const std::string node = GetString(*e.object, "spec", "nodeName");
      if (due_.contains(node) && pods_[node].empty()) due_.erase(node);
    });
  }

 private:
  void Sync(const ObjectKey& key) override {
    const Object object = Find(key);
    if (!object) return;
    if (key.row == &NodeRow()) {
      SyncNode(key, *object);
    } else if (!GetString(*object, "spec", "nodeName").empty()) {
      SyncPod(key, *object);
    }
  }

  void SyncNode(const ObjectKey& key, const Json& node) {
    due_.erase(key.name);
    const std::string now = registry_.Now();
    if (!HasCondition(node, "Ready")) {
      Edit(key, "status",
           [&](Json& edited) { CompleteStatus(edited["status"], now); });
    }
    Edit(key, "", [&](Json& edited) {
      SetTaint(edited, "node.kubernetes.io/unschedulable",
               GetBool(edited, "spec", "unschedulable"), now);
      for (const auto& [condition, taint] : kConditionTaints) {
        SetTaint(edited, taint, HasCondition(edited, condition), now);
      }
    });
    EnsureLease(node);
  }

  // Creates the node's lease if it does not exist. The lease is never renewed,
  // because no part of this server checks whether nodes are alive.
  void EnsureLease(const Json& node) {
    const ObjectKey key{&GetResource("coordination.k8s.io", "leases"),
                        "kube-node-lease", NameOf(node)};
    if (Find(key)) return;
    registry_.Create(
        *key.row, key.ns,
        {{"metadata",
          {{"name", key.name},
           {"ownerReferences", Json::array({ReferenceTo(node)})}}},
         {"spec",
          {{"holderIdentity", key.name},
           {"leaseDurationSeconds", 40},
           {"renewTime", FormatMicroTime(registry_.loop().Now())}}}});
  }

  void SyncPod(const ObjectKey& key, const Json& pod) {
    const std::string node_name = GetString(pod, "spec", "nodeName");
    const Object node = Find({&NodeRow(), "", node_name});
    if (!node) return AwaitNode(key, node_name);
    if (!HasCondition(*node, "Ready")) return;
    if (IsTerminating(pod)) {
      registry_.Delete(*key.row, key.ns, key.name, {.grace_period = 0});
    } else if (Get(pod, "status", "phase") == "Pending") {
      Admit(key, pod, *node);
    }
  }

  // Deletes the pod if its node has been missing for kQuarantine. Otherwise
  // queues the pod until then.
  void AwaitNode(const ObjectKey& pod, const std::string& node) {
    const Time now = registry_.loop().Now();
    const Time due = due_.try_emplace(node, now + kQuarantine).first->second;
    if (due > now) {
      return Enqueue(pod,
                     std::chrono::ceil<std::chrono::milliseconds>(due - now));
    }
    registry_.Delete(*pod.row, pod.ns, pod.name, {.grace_period = 0});
  }

  // Starts the pod, or rejects it as a kubelet would.
  void Admit(const ObjectKey& key, const Json& pod, const Json& node) {
    std::vector<Object> others = pods_[NameOf(node)];
    std::erase_if(others, [](const Object& other) {
      return Get(*other, "status", "phase") != "Running";
    });
    const auto rejection = CheckAdmission(pod, node, others);
    if (!rejection) return Start(key, node);
    Record(pod, "Warning", rejection->reason, rejection->message);
    Edit(key, "status", [&](Json& edited) {
      edited["status"].update(
          {{"phase", "Failed"},
           {"reason", rejection->reason},
           {"message", "Pod was rejected: " + rejection->message},
           {"startTime", registry_.Now()}});
    });
  }

  void Start(const ObjectKey& key, const Json& node) {
    const Json& address =
        FindBy(Get(node, "status", "addresses"), "type", "InternalIP");
    const std::string host_ip = GetString(address, "address");
    Edit(key, "status", [&](Json& pod) {
      SetRunning(pod, registry_.Now());
      const auto set_ip = [&](const std::string& field, const std::string& ip) {
        if (ip.empty()) return;
        pod["status"][field] = ip;
        pod["status"][field + "s"] = {{{"ip", ip}}};
      };
      set_ip("hostIP", host_ip);
      set_ip("podIP",
             GetBool(pod, "spec", "hostNetwork") ? host_ip : NewPodIp());
    });
  }

  // Returns the next address in 10.0.0.0/8. Ignores the node's podCIDR.
  std::string NewPodIp() {
    ++last_ip_;
    return fmt::format("10.{}.{}.{}", last_ip_ >> 16 & 255, last_ip_ >> 8 & 255,
                       last_ip_ & 255);
  }

  Index pods_;  // by node
  // The times at which the pods of missing nodes are deleted, by node.
  std::map<std::string, Time> due_;
  std::uint32_t last_ip_ = 0;
};

}  // namespace

std::unique_ptr<Controller> NewKubeletSimulator(Registry& registry) {
  return std::make_unique<KubeletSimulator>(registry);
}

}  // namespace minisched::apiserver
