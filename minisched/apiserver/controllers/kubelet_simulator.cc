#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "minisched/api/time.h"
#include "minisched/apiserver/controllers/controllers.h"
#include "minisched/apiserver/controllers/event_recorder.h"
#include "minisched/apiserver/controllers/kubelet_admission.h"
#include "minisched/apiserver/kinds/pods.h"

namespace minisched::apiserver {
namespace {

// What a node says that it runs.
constexpr char kSoftware[] = "minisched-0.1.0";

const ResourceRow& Nodes() { return GetResource("", "nodes"); }

// Its condition Ready is true.
bool IsReady(const Json& object) { return IsPodReady(object); }

constexpr std::array<const char*, 4> kNodeConditions[] = {
    {"Ready", "True", "KubeletReady", "kubelet is posting ready status"},
    {"MemoryPressure", "False", "KubeletHasSufficientMemory",
     "kubelet has sufficient memory available"},
    {"DiskPressure", "False", "KubeletHasNoDiskPressure",
     "kubelet has no disk pressure"},
    {"PIDPressure", "False", "KubeletHasSufficientPID",
     "kubelet has sufficient PID available"},
    {"NetworkUnavailable", "False", "RouteCreated",
     "RouteController created a route"},
};

constexpr std::array<const char*, 2> kNodeInfo[] = {
    {"architecture", "amd64"},
    {"operatingSystem", "linux"},
    {"containerRuntimeVersion", kSoftware},
    {"kernelVersion", kSoftware},
    {"kubeProxyVersion", kSoftware},
    {"kubeletVersion", kSoftware},
};

// Fills in what the node doesn't say itself.
void CompleteStatus(Json& status, const std::string& now) {
  for (const auto& [type, value, reason, message] : kNodeConditions) {
    SetCondition(status["conditions"],
                 {{"type", type},
                  {"status", value},
                  {"reason", reason},
                  {"message", message},
                  {"lastHeartbeatTime", now}},
                 now);
  }
  for (const auto& [key, value] : kNodeInfo) {
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

// Of containers that run or, as init containers do, have run.
Json StatusesOf(const Json& containers, bool init, const std::string& now) {
  Json statuses = Json::array();
  for (const Json& container : containers) {
    Json status = {{"name", container["name"]},
                   {"image", Get(container, "image")},
                   {"ready", true},
                   {"restartCount", 0}};
    if (init && GetString(container, "restartPolicy") != "Always") {
      status["state"]["terminated"] = {{"exitCode", 0},
                                       {"reason", "Completed"},
                                       {"startedAt", now},
                                       {"finishedAt", now}};
    } else {
      status["state"]["running"]["startedAt"] = now;
      if (init) status["started"] = true;
    }
    statuses.push_back(std::move(status));
  }
  return statuses;
}

void SetRunning(Json& pod, const std::string& now) {
  const Json& spec = pod["spec"];
  Json& status = pod["status"];
  Json conditions = Json::array();
  for (const char* type : {"Initialized", "Ready", "ContainersReady"}) {
    SetCondition(conditions, {{"type", type}, {"status", "True"}}, now);
  }
  for (const Json& other : Get(status, "conditions")) {
    if (FindBy(conditions, "type", GetString(other, "type")).is_null()) {
      conditions.push_back(other);
    }
  }
  status["conditions"] = std::move(conditions);
  status["containerStatuses"] = StatusesOf(spec["containers"], false, now);
  status["initContainerStatuses"] =
      StatusesOf(Get(spec, "initContainers"), true, now);
  status["phase"] = "Running";
  status["startTime"] = now;
}

std::string HostIp(const Json& node) {
  const Json& addresses = Get(node, "status", "addresses");
  return GetString(FindBy(addresses, "type", "InternalIP"), "address");
}

class KubeletSimulator : public Controller {
 public:
  explicit KubeletSimulator(Registry& registry)
      : Controller(registry),
        recorder_(registry, "kubelet"),
        pods_(store_, "pods", NodeOfPod) {
    Watch("nodes", [this](const Event& e) {
      Enqueue(*e.object);
      // Pods wait for their node to be ready.
      if (e.previous && IsReady(*e.previous) == IsReady(*e.object)) return;
      for (const auto& [uid, pod] : pods_[NameOf(*e.object)]) Enqueue(*pod);
    });
    Watch("pods", [this](const Event& e) { Enqueue(*e.object); });
  }

 private:
  void Sync(const ObjectKey& key) override {
    const Object object = Find(key);
    if (!object) return;
    if (key.row == &Nodes()) {
      SyncNode(key, *object);
    } else {
      SyncPod(key, *object);
    }
  }

  void SyncNode(const ObjectKey& key, const Json& node) {
    if (!IsReady(node)) {
      Edit(key, "status", [&](Json& edited) {
        CompleteStatus(edited["status"], registry_.Now());
      });
    }
    EnsureLease(node);
  }

  // It is never renewed: nobody here doubts that the node lives.
  void EnsureLease(const Json& node) {
    const ObjectKey key{&GetResource("coordination.k8s.io", "leases"),
                        "kube-node-lease", NameOf(node)};
    if (Find(key)) return;
    const Json owner = {{"apiVersion", "v1"},
                        {"kind", "Node"},
                        {"name", key.name},
                        {"uid", UidOf(node)}};
    registry_.Create(
        *key.row, key.ns,
        {{"metadata", {{"name", key.name}, {"ownerReferences", {owner}}}},
         {"spec",
          {{"holderIdentity", key.name},
           {"leaseDurationSeconds", 40},
           {"renewTime", FormatMicroTime(registry_.loop().Now())}}}});
  }

  void SyncPod(const ObjectKey& key, const Json& pod) {
    const Object node =
        Find({&Nodes(), "", GetString(pod, "spec", "nodeName")});
    if (!node || !IsReady(*node)) return;
    if (IsTerminating(pod)) {
      registry_.Delete(*key.row, key.ns, key.name, {.grace_period = 0});
      return;
    }
    if (GetString(pod, "status", "phase") != "Pending") return;
    std::vector<Object> others;
    for (const auto& [uid, other] : pods_[NameOf(*node)]) {
      if (Get(*other, "status", "phase") == "Running") others.push_back(other);
    }
    const auto no = Reject(pod, *node, others);
    if (!no) return Start(key, *node);
    recorder_.Record(pod, "Warning", no->reason, no->message);
    Edit(key, "status", [&](Json& edited) {
      edited["status"].update({{"phase", "Failed"},
                               {"reason", no->reason},
                               {"message", "Pod was rejected: " + no->message},
                               {"startTime", registry_.Now()}});
    });
  }

  void Start(const ObjectKey& key, const Json& node) {
    Edit(key, "status", [&](Json& pod) {
      SetRunning(pod, registry_.Now());
      const std::string host_ip = HostIp(node);
      const std::string ip =
          GetBool(pod, "spec", "hostNetwork") ? host_ip : NewPodIp();
      Json& status = pod["status"];
      if (!host_ip.empty()) {
        status["hostIP"] = host_ip;
        status["hostIPs"] = {{{"ip", host_ip}}};
      }
      if (!ip.empty()) {
        status["podIP"] = ip;
        status["podIPs"] = {{{"ip", ip}}};
      }
    });
  }

  // In 10.0.0.0/8, whatever the podCIDR of the node.
  std::string NewPodIp() {
    ++last_ip_;
    return fmt::format("10.{}.{}.{}", last_ip_ >> 16 & 255, last_ip_ >> 8 & 255,
                       last_ip_ & 255);
  }

  EventRecorder recorder_;
  Index pods_;  // by node
  std::uint32_t last_ip_ = 0;
};

}  // namespace

std::unique_ptr<Controller> NewKubeletSimulator(Registry& registry) {
  return std::make_unique<KubeletSimulator>(registry);
}

}  // namespace minisched::apiserver
