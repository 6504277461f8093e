#include "lab/apiserver/controllers/kubelet_admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "lab/apiserver/kinds/validation.h"
#include "minisched/api/document.h"
#include "minisched/api/labels.h"
#include "minisched/api/node.h"
#include "minisched/api/parse_error.h"
#include "minisched/api/pod_requests.h"
#include "minisched/api/taints.h"

namespace minisched::apiserver {
namespace {

// Returns the pod's requests, and 1 of the resource "pods".
ResourceList RequestsOf(const Pod& pod) {
  ResourceList requests = PodRequests(pod);
  requests["pods"] = Quantity::FromValue(1);
  return requests;
}

std::optional<Rejection> CheckResources(const Pod& pod, const Node& node,
                                        const std::vector<Pod>& others) {
  ResourceList capacity = node.status.allocatable;
  ResourceList used;
  for (const Pod& other : others) AddResourceList(used, RequestsOf(other));
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

// True if the labels meet the requirement. Throws ParseError if the requirement
// is invalid, for example "Gt" with a value that is not a number.
bool MatchesLabels(const Json& requirement, const Labels& labels) {
  const auto op = Requirement::FindOperator(GetString(requirement, "operator"));
  return op &&
         Requirement(GetString(requirement, "key"), *op,
                     requirement.value("values", std::vector<std::string>()))
             .Matches(labels);
}

// True if the node's name meets a requirement of matchFields. Validation has
// made sure that the key is metadata.name and that there is one value.
bool MatchesName(const Json& requirement, const std::string& name) {
  const bool same = Get(requirement, "values") == Json::array({name});
  return same == (GetString(requirement, "operator") == "In");
}

// True if the node matches a NodeSelectorTerm. An empty or invalid term matches
// no node.
bool MatchesTerm(const Json& term, const ObjectMeta& node) {
  const Json& expressions = Get(term, "matchExpressions");
  const Json& fields = Get(term, "matchFields");
  if (expressions.empty() && fields.empty()) return false;
  const auto by_labels = [&](const Json& requirement) {
    return MatchesLabels(requirement, node.labels);
  };
  const auto by_name = [&](const Json& requirement) {
    return MatchesName(requirement, node.name);
  };
  try {
    return std::ranges::all_of(expressions, by_labels) &&
           std::ranges::all_of(fields, by_name);
  } catch (const ParseError&) {
    return false;
  }
}

// True if the node matches the pod's nodeSelector and the required terms of
// `affinity`, the pod's spec.affinity.nodeAffinity. Follows component-helpers
// scheduling/corev1/nodeaffinity.
bool MatchesNodeAffinity(const Pod& pod, const Json& affinity,
                         const Node& node) {
  if (!std::ranges::includes(node.metadata.labels, pod.spec.node_selector)) {
    return false;
  }
  const Json& required =
      Get(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
  return required.is_null() ||
         std::ranges::any_of(Get(required, "nodeSelectorTerms"),
                             [&](const Json& term) {
                               return MatchesTerm(term, node.metadata);
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
      {MatchesNodeAffinity(
           pod, Get(pod_json, "spec", "affinity", "nodeAffinity"), node),
       "NodeAffinity", "node(s) didn't match Pod's node affinity/selector"},
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
