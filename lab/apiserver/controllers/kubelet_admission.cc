#include "lab/apiserver/controllers/kubelet_admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "lab/apiserver/kinds/validation.h"
#include "minisched/api/document.h"
#include "minisched/api/node.h"
#include "minisched/api/node_affinity.h"
#include "minisched/api/pod_requests.h"
#include "minisched/api/taints.h"

namespace minisched::apiserver {
namespace {

// Returns the pod's requests, and 1 of the resource "pods".
ResourceList RequestsOf(const Pod& pod,
                        const PodRequestsOptions& options = {}) {
  ResourceList requests = PodRequests(pod, options);
  requests["pods"] = Quantity::FromValue(1);
  return requests;
}

std::optional<Rejection> CheckResources(const Pod& pod, const Node& node,
                                        const std::vector<Pod>& others) {
  ResourceList capacity = node.status.allocatable;
  ResourceList used;
  // The spec of a pod that is resized isn't what the node has allocated.
  for (const Pod& other : others) {
    AddResourceList(used, RequestsOf(other, {.use_status_resources = true}));
  }
  ResourceList requests = RequestsOf(pod);
  // A kubelet reports the first insufficient resource, and checks these four
  // first.
  std::vector<std::string> names = {"pods", "cpu", "memory",
                                    "ephemeral-storage"};
  for (const auto& [name, requested] : requests) names.push_back(name);
  for (const std::string& name : names) {
    const Quantity& requested = requests[name];
    // A kubelet ignores extended resources that the node does not list, because
    // another component may allocate them for the whole cluster.
    const bool ignored = IsExtendedResource(name) && !capacity.contains(name);
    if (requested.IsZero() || ignored) continue;
    Quantity total = used[name];
    total += requested;
    if (total <= capacity[name]) continue;
    const auto amount = [&](const Quantity& quantity) {
      return name == "cpu" ? quantity.MilliValue() : quantity.Value();
    };
    return Rejection{
        "OutOf" + name,
        fmt::format("Node didn't have enough resource: {}, requested: {}, "
                    "used: {}, capacity: {}",
                    name, amount(requested), amount(used[name]),
                    amount(capacity[name]))};
  }
  return std::nullopt;
}

// Returns the host ports of the containers that run as long as the pod: its
// containers and sidecars.
std::vector<ContainerPort> HostPortsOf(const Pod& pod) {
  std::vector<ContainerPort> ports;
  const auto add = [&](const Container& container) {
    for (const ContainerPort& port : container.ports) {
      if (port.host_port != 0) ports.push_back(port);
    }
  };
  for (const Container& container : pod.spec.containers) add(container);
  for (const Container& container : pod.spec.init_containers) {
    if (container.restart_policy == "Always") add(container);
  }
  return ports;
}

// Returns the IP address on which the host port is used, or "" for all.
std::string HostIpOf(const ContainerPort& port) {
  return port.host_ip == "0.0.0.0" ? "" : port.host_ip;
}

bool HasFreePorts(const Pod& pod, const std::vector<Pod>& others) {
  const std::vector<ContainerPort> ports = HostPortsOf(pod);
  if (ports.empty()) return true;
  std::map<std::pair<std::int32_t, std::string>, std::set<std::string>> taken;
  for (const Pod& other : others) {
    for (const ContainerPort& port : HostPortsOf(other)) {
      taken[{port.host_port, port.protocol}].insert(HostIpOf(port));
    }
  }
  return std::ranges::none_of(ports, [&](const ContainerPort& port) {
    const auto found = taken.find({port.host_port, port.protocol});
    if (found == taken.end()) return false;
    const std::set<std::string>& ips = found->second;
    return HostIpOf(port).empty() || ips.contains("") ||
           ips.contains(HostIpOf(port));
  });
}

// True if the pod tolerates the node's NoExecute taints. Only schedulers check
// the other effects.
bool ToleratesNoExecute(const Pod& pod, const Node& node) {
  // By key and value, so that not every taint is compared with every
  // toleration. A toleration with an empty key or value may tolerate any.
  std::map<std::pair<std::string, std::string>, std::vector<Toleration>> all;
  for (const Toleration& toleration : pod.spec.tolerations) {
    if (toleration.effect.empty() || toleration.effect == "NoExecute") {
      all[{toleration.key, toleration.value}].push_back(toleration);
    }
  }
  const auto tolerates = [&](const std::string& key, const std::string& value,
                             const Taint& taint) {
    const auto found = all.find({key, value});
    return found != all.end() && TolerationsTolerateTaint(found->second, taint);
  };
  return std::ranges::all_of(node.spec.taints, [&](const Taint& taint) {
    return taint.effect != "NoExecute" ||
           tolerates(taint.key, taint.value, taint) ||
           tolerates(taint.key, "", taint) ||
           tolerates("", taint.value, taint) || tolerates("", "", taint);
  });
}

}  // namespace

std::optional<Rejection> CheckAdmission(const Json& pod_json,
                                        const Json& node_json,
                                        const std::vector<Object>& other_pods) {
  const auto pod = FromDocument<Pod>(pod_json);
  const auto node = FromDocument<Node>(node_json);
  std::vector<Pod> others;
  for (const Object& other : other_pods) {
    others.push_back(FromDocument<Pod>(*other));
  }
  if (auto rejection = CheckResources(pod, node, others)) return rejection;
  const struct {
    bool holds;
    const char* name;
    const char* message;
  } predicates[] = {
      {RequiredNodeAffinity(pod).Matches(node), "NodeAffinity",
       "node(s) didn't match Pod's node affinity/selector"},
      {HasFreePorts(pod, others), "NodePorts",
       "node(s) didn't have free ports for the requested pod ports"},
      {ToleratesNoExecute(pod, node), "TaintToleration",
       "node(s) had taints that the pod didn't tolerate"},
  };
  for (const auto& [holds, name, message] : predicates) {
    if (holds) continue;
    return Rejection{name,
                     fmt::format("Predicate {} failed: {}", name, message)};
  }
  return std::nullopt;
}

}  // namespace minisched::apiserver
