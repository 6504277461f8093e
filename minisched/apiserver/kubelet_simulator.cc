#include "minisched/apiserver/kubelet_simulator.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "minisched/api/time.h"
#include "minisched/apiserver/pods.h"

namespace minisched::apiserver {
namespace {

// What a node says that it runs.
constexpr char kSoftware[] = "minisched-0.1.0";
// A lease lasts 40 s; kubelets renew it every 10 s.
constexpr std::chrono::seconds kLease{40};
constexpr std::chrono::seconds kRenewLease{30};
// Of the pods on nodes that have no podCIDR.
constexpr char kPodCidr[] = "10.0.0.0/8";

const ResourceRow& Nodes() { return GetResource("", "nodes"); }
const ResourceRow& Pods() { return GetResource("", "pods"); }

std::string NodeOf(const Json& pod) {
  return GetString(pod, "spec", "nodeName");
}

std::vector<std::string> NodeOfBound(const Json& pod) {
  std::string node = NodeOf(pod);
  if (node.empty()) return {};
  return {std::move(node)};
}

// Its condition Ready is true.
bool IsReady(const Json& object) { return IsPodReady(object); }

bool HasEnded(const Json& pod) {
  const Json& phase = Get(pod, "status", "phase");
  return phase == "Succeeded" || phase == "Failed";
}

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

// Fills in what the node doesn't say itself.
void CompleteStatus(Json& node, const std::string& now) {
  Json& status = node["status"];
  Json conditions = Json::array();
  for (const auto& [type, value, reason, message] : kNodeConditions) {
    conditions.push_back(
        {{"type", type},
         {"status", value},
         {"reason", reason},
         {"message", message},
         {"lastHeartbeatTime", now},
         {"lastTransitionTime", node["metadata"]["creationTimestamp"]}});
  }
  for (const Json& other : Get(status, "conditions")) {
    if (FindBy(conditions, "type", GetString(other, "type")).is_null()) {
      conditions.push_back(other);
    }
  }
  Json completed = {
      {"phase", "Running"},
      {"capacity", {{"cpu", "1k"}, {"memory", "1Ti"}, {"pods", "1M"}}},
      {"allocatable", {{"cpu", "1k"}, {"memory", "1Ti"}, {"pods", "1M"}}},
      {"daemonEndpoints", {{"kubeletEndpoint", {{"Port", 0}}}}}};
  Json info = {{"architecture", "amd64"}, {"operatingSystem", "linux"}};
  for (const char* key : {"containerRuntimeVersion", "kernelVersion",
                          "kubeProxyVersion", "kubeletVersion"}) {
    info[key] = kSoftware;
  }
  for (const auto& [key, value] : Get(status, "nodeInfo").items()) {
    if (!GetString(value).empty()) info[key] = value;
  }
  completed.update(status);
  completed["conditions"] = std::move(conditions);
  completed["nodeInfo"] = std::move(info);
  status = std::move(completed);
}

Json Started(const std::string& now) {
  return {{"running", {{"startedAt", now}}}};
}

Json StatusOf(const Json& container, const std::string& now) {
  return {{"name", container["name"]},
          {"image", Get(container, "image")},
          {"ready", true},
          {"restartCount", 0},
          {"state", Started(now)}};
}

Json StatusOfInit(const Json& container, const std::string& now) {
  Json status = StatusOf(container, now);
  if (GetString(container, "restartPolicy") == "Always") {
    status["started"] = true;
  } else {
    status["state"] = {{"terminated",
                        {{"exitCode", 0},
                         {"reason", "Completed"},
                         {"startedAt", now},
                         {"finishedAt", now}}}};
  }
  return status;
}

void SetRunning(Json& pod, const std::string& now) {
  const Json& spec = pod["spec"];
  Json& status = pod["status"];
  std::vector<std::string> types = {"Initialized", "Ready", "ContainersReady"};
  for (const Json& gate : Get(spec, "readinessGates")) {
    types.push_back(GetString(gate, "conditionType"));
  }
  Json conditions = Json::array();
  for (const std::string& type : types) {
    conditions.push_back(
        {{"type", type}, {"status", "True"}, {"lastTransitionTime", now}});
  }
  for (const Json& other : Get(status, "conditions")) {
    if (FindBy(conditions, "type", GetString(other, "type")).is_null()) {
      conditions.push_back(other);
    }
  }
  status["conditions"] = std::move(conditions);
  status["containerStatuses"] = Json::array();
  for (const Json& container : Get(spec, "containers")) {
    status["containerStatuses"].push_back(StatusOf(container, now));
  }
  status["initContainerStatuses"] = Json::array();
  for (const Json& container : Get(spec, "initContainers")) {
    status["initContainerStatuses"].push_back(StatusOfInit(container, now));
  }
  status["phase"] = "Running";
  status["startTime"] = now;
}

std::string HostIp(const Json& node) {
  const Json& addresses = Get(node, "status", "addresses");
  for (const char* type : {"InternalIP", "ExternalIP"}) {
    const Json& found = FindBy(addresses, "type", type);
    if (!found.is_null()) return GetString(found, "address");
  }
  return "";
}

// The first address of an IPv4 CIDR; 0 if it is none.
std::uint32_t FirstAddress(const std::string& cidr) {
  in_addr address{};
  inet_pton(AF_INET, cidr.substr(0, cidr.find('/')).c_str(), &address);
  return ntohl(address.s_addr);
}

std::string ToText(std::uint32_t ip) {
  const in_addr address{htonl(ip)};
  std::array<char, INET_ADDRSTRLEN> text{};
  return inet_ntop(AF_INET, &address, text.data(), text.size());
}

}  // namespace

KubeletSimulator::KubeletSimulator(Registry& registry)
    : Controller(registry),
      recorder_(registry, "kubelet"),
      pods_(store_, CollectionOf(Pods()), NodeOfBound) {
  Watch(CollectionOf(Nodes()), [this](const Event& e) {
    Enqueue(*e.object);
    // Pods wait for their node to be ready.
    if (e.previous && IsReady(*e.previous) == IsReady(*e.object)) return;
    for (const auto& [uid, pod] : pods_[NameOf(*e.object)]) Enqueue(*pod);
  });
  Watch(CollectionOf(Pods()), [this](const Event& e) {
    if (!NodeOf(*e.object).empty()) Enqueue(*e.object);
  });
  Every(kRenewLease, [this] {
    for (const auto& [key, node] : store_.All(CollectionOf(Nodes()))) {
      Enqueue(*node);
    }
  });
}

void KubeletSimulator::Sync(const ObjectKey& key) {
  if (key.row == &Nodes()) {
    SyncNode(key);
  } else {
    SyncPod(key);
  }
}

void KubeletSimulator::SyncNode(const ObjectKey& key) {
  const Object node = Find(key);
  if (!node) return;
  if (!IsReady(*node)) {
    Edit(key, "status",
         [&](Json& edited) { CompleteStatus(edited, registry_.Now()); });
  }
  RenewLease(*node);
}

void KubeletSimulator::RenewLease(const Json& node) {
  const ObjectKey key{&GetResource("coordination.k8s.io", "leases"),
                      "kube-node-lease", NameOf(node)};
  const Time now = registry_.loop().Now();
  const Object old = Find(key);
  if (!old) {
    registry_.Create(*key.row, key.ns,
                     {{"metadata",
                       {{"name", key.name},
                        {"ownerReferences",
                         {{{"apiVersion", "v1"},
                           {"kind", "Node"},
                           {"name", key.name},
                           {"uid", UidOf(node)}}}}}},
                      {"spec",
                       {{"holderIdentity", key.name},
                        {"leaseDurationSeconds", kLease.count()},
                        {"renewTime", FormatMicroTime(now)}}}});
    return;
  }
  const std::string renewed = GetString(*old, "spec", "renewTime");
  if (!renewed.empty() && now - ParseTime(renewed) < kRenewLease / 2) return;
  Edit(key, "",
       [&](Json& lease) { lease["spec"]["renewTime"] = FormatMicroTime(now); });
}

void KubeletSimulator::SyncPod(const ObjectKey& key) {
  const Object pod = Find(key);
  const auto known = running_.find(key);
  if (known != running_.end() &&
      (!pod || UidOf(*pod) != known->second.uid || HasEnded(*pod))) {
    Forget(key);
  }
  if (!pod) return;
  const Object node = Find({&Nodes(), "", NodeOf(*pod)});
  if (!node) return;
  if (IsTerminating(*pod)) {
    registry_.Delete(Pods(), key.ns, key.name,
                     {.grace_period = 0, .uid = UidOf(*pod)});
    return;
  }
  if (HasEnded(*pod) || !IsReady(*node)) return;
  if (!running_.contains(key) && !Admit(key, *pod, *node)) return;
  if (Get(*pod, "status", "phase") != "Running") Start(key, *pod, *node);
}

void KubeletSimulator::Forget(const ObjectKey& key) {
  const auto known = running_.extract(key);
  const Running& running = known.mapped();
  Demand& used = used_[running.node];
  used -= running.demand;
  if (used.pods == 0) used_.erase(running.node);
  if (!running.cidr.empty()) {
    addresses_[running.cidr].free.push_back(running.ip);
  }
}

bool KubeletSimulator::Admit(const ObjectKey& key, const Json& pod,
                             const Json& node) {
  Demand demand = Demand::Of(pod);
  Demand& used = used_[NameOf(node)];
  // One that runs already has been admitted by somebody else.
  if (Get(pod, "status", "phase") != "Running") {
    if (const auto no = Reject(pod, demand, node, used)) {
      recorder_.Record(pod, "Warning", no->reason, no->message, NameOf(node));
      Edit(key, "status", [&](Json& edited) {
        Json& status = edited["status"];
        status["phase"] = "Failed";
        status["reason"] = no->reason;
        status["message"] = "Pod was rejected: " + no->message;
        status["startTime"] = registry_.Now();
      });
      return false;
    }
  }
  used += demand;
  running_[key] = {UidOf(pod), NameOf(node), std::move(demand), "", 0};
  return true;
}

void KubeletSimulator::Start(const ObjectKey& key, const Json& pod,
                             const Json& node) {
  const std::string host_ip = HostIp(node);
  const std::string pod_ip = GetBool(pod, "spec", "hostNetwork")
                                 ? host_ip
                                 : PodIp(running_.at(key), node);
  Edit(key, "status", [&](Json& edited) {
    SetRunning(edited, registry_.Now());
    Json& status = edited["status"];
    if (!host_ip.empty()) {
      status["hostIP"] = host_ip;
      status["hostIPs"] = {{{"ip", host_ip}}};
    }
    if (!pod_ip.empty()) {
      status["podIP"] = pod_ip;
      status["podIPs"] = {{{"ip", pod_ip}}};
    }
  });
}

std::string KubeletSimulator::PodIp(Running& running, const Json& node) {
  if (running.cidr.empty()) {
    running.cidr = GetString(node, "spec", "podCIDR");
    if (running.cidr.empty()) running.cidr = kPodCidr;
    auto& [last, free] =
        addresses_
            .try_emplace(running.cidr,
                         Addresses{FirstAddress(running.cidr), {}})
            .first->second;
    if (free.empty()) {
      running.ip = ++last;
    } else {
      running.ip = free.back();
      free.pop_back();
    }
  }
  return ToText(running.ip);
}

}  // namespace minisched::apiserver
