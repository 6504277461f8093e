#include "tests/model_testing.h"

#include <algorithm>
#include <set>
#include <vector>

#include "tests/model_rules_testing.h"

namespace minisched {
namespace {

Status Unresolvable(const std::string& reason) {
  return {Code::kUnschedulableAndUnresolvable, reason};
}

// Taints and tolerations.

// A cordoned node takes no pods, except those that tolerate the taint
// node.kubernetes.io/unschedulable:NoSchedule.
Status ModelNodeUnschedulable(const Pod& pod, const Node& node) {
  const Taint taint{.key = "node.kubernetes.io/unschedulable",
                    .effect = "NoSchedule"};
  if (node.spec.unschedulable && !ModelToleratesAny(pod, taint)) {
    return Unresolvable("node(s) were unschedulable");
  }
  return {};
}

// If a taint without a matching toleration has the effect NoSchedule or
// NoExecute, the pod isn't scheduled to the node.
Status ModelTaintToleration(const Pod& pod, const Node& node) {
  for (const Taint& taint : node.spec.taints) {
    if (taint.effect == "PreferNoSchedule") continue;
    if (!ModelToleratesAny(pod, taint)) {
      return Unresolvable("node(s) had untolerated taint(s)");
    }
  }
  return {};
}

// Node selectors and node affinity.

// If both nodeSelector and nodeAffinity are given, the node must satisfy both.
// The node must have each label of the nodeSelector. The terms are ORed.
Status ModelNodeAffinity(const Pod& pod, const Node& node) {
  bool matches = true;
  for (const auto& [key, value] : pod.spec.node_selector) {
    const auto label = node.metadata.labels.find(key);
    if (label == node.metadata.labels.end() || label->second != value) {
      matches = false;
    }
  }
  if (const auto& required = pod.spec.affinity.node_affinity.required) {
    const auto& terms = required->node_selector_terms;
    const bool any = std::any_of(
        terms.begin(), terms.end(),
        [&](const auto& term) { return ModelMatchesTerm(term, node); });
    if (!any) matches = false;
  }
  if (matches) return {};
  return Unresolvable("node(s) didn't match Pod's node affinity/selector");
}

// Returns true if a node of this name can match the term. Checks only the In
// requirements for the name.
bool MayMatchName(const NodeSelectorTerm& term, const std::string& name) {
  for (const auto& r : term.match_fields) {
    if (r.key != "metadata.name" || r.op != "In") continue;
    if (std::find(r.values.begin(), r.values.end(), name) == r.values.end()) {
      return false;
    }
  }
  return true;
}

// Before Filter, the scheduler excludes the nodes that no term allows by name.
// A term without names allows all nodes. If the names in each term conflict,
// the scheduler rejects the pod.
Status ModelNamedNodes(const Pod& pod, const Node& node) {
  const auto& required = pod.spec.affinity.node_affinity.required;
  if (!required || required->node_selector_terms.empty()) return {};
  std::set<std::string> named = {"a node that no term names"};
  for (const auto& term : required->node_selector_terms) {
    for (const auto& r : term.match_fields) {
      named.insert(r.values.begin(), r.values.end());
    }
  }
  const auto any_term_allows = [&](const std::string& name) {
    const auto& terms = required->node_selector_terms;
    return std::any_of(terms.begin(), terms.end(), [&](const auto& term) {
      return MayMatchName(term, name);
    });
  };
  if (std::none_of(named.begin(), named.end(), any_term_allows)) {
    return Unresolvable("pod affinity terms conflict")
        .WithPlugin("NodeAffinity");
  }
  if (any_term_allows(node.metadata.name)) return {};
  return Unresolvable("node(s) didn't satisfy plugin(s) [NodeAffinity]");
}

// Host ports.

// Returns the ports of the containers and sidecars, but not of other init
// containers.
std::vector<ContainerPort> PortsOf(const Pod& pod) {
  std::vector<ContainerPort> ports;
  for (const Container& c : pod.spec.containers) {
    ports.insert(ports.end(), c.ports.begin(), c.ports.end());
  }
  for (const Container& c : pod.spec.init_containers) {
    if (c.restart_policy != "Always") continue;
    ports.insert(ports.end(), c.ports.begin(), c.ports.end());
  }
  return ports;
}

// Each combination of hostIP, hostPort and protocol must be unique on a node.
// The default of hostIP is 0.0.0.0, which means all addresses. The default of
// the protocol is TCP.
bool Conflict(const ContainerPort& a, const ContainerPort& b) {
  const auto protocol = [](const ContainerPort& port) {
    return port.protocol.empty() ? "TCP" : port.protocol;
  };
  const auto is_each = [](const ContainerPort& port) {
    return port.host_ip.empty() || port.host_ip == "0.0.0.0";
  };
  return a.host_port != 0 && a.host_port == b.host_port &&
         protocol(a) == protocol(b) &&
         (is_each(a) || is_each(b) || a.host_ip == b.host_ip);
}

Status ModelNodePorts(const Pod& pod, const std::vector<const Pod*>& others) {
  for (const Pod* other : others) {
    for (const ContainerPort& a : PortsOf(pod)) {
      for (const ContainerPort& b : PortsOf(*other)) {
        if (!Conflict(a, b)) continue;
        return {Code::kUnschedulable,
                "node(s) didn't have free ports for the requested pod ports"};
      }
    }
  }
  return {};
}

// Resources.

// The scheduler ensures that, for each resource, the sum of the requests of the
// pods on a node is at most the node's allocatable amount. The amount of "pods"
// is the number of pods that the node can run. A node is too small if the pod's
// request alone exceeds its allocatable amount.
Status ModelNodeResourcesFit(const Pod& pod, const Node& node,
                             const std::vector<const Pod*>& others) {
  const ResourceList& allocatable = node.status.allocatable;
  std::vector<std::string> reasons;
  bool too_small = false;
  const auto pods = static_cast<std::int64_t>(others.size()) + 1;
  if (Quantity::FromValue(pods) > AmountOf(allocatable, "pods")) {
    reasons.emplace_back("Too many pods");
  }
  for (const char* resource : {"cpu", "memory", "ephemeral-storage",
                               "example.com/gpu", "hugepages-2Mi"}) {
    const Quantity request = ModelRequest(pod, resource);
    if (request.IsZero()) continue;
    Quantity sum = request;
    for (const Pod* other : others) sum += ModelRequest(*other, resource);
    const Quantity has = AmountOf(allocatable, resource);
    if (sum > has) reasons.push_back(std::string("Insufficient ") + resource);
    if (request > has) too_small = true;
  }
  if (reasons.empty()) return {};
  return {
      too_small ? Code::kUnschedulableAndUnresolvable : Code::kUnschedulable,
      reasons};
}

// Checks resource claims, the only unsupported requirement that DrawCluster()
// draws.
Status ModelUnsupported(const Pod& pod) {
  if (pod.spec.resource_claims.empty()) return {};
  return Unresolvable("not supported by this scheduler: resource claims");
}

Status FirstRejection(const Pod& pod, const Node& node,
                      const std::vector<const Pod*>& others) {
  Status status = ModelUnsupported(pod);
  if (!status.IsSuccess()) return status.WithPlugin("Unsupported");
  status = ModelNamedNodes(pod, node);
  if (!status.IsSuccess()) return status;
  status = ModelNodeUnschedulable(pod, node);
  if (!status.IsSuccess()) return status.WithPlugin("NodeUnschedulable");
  status = ModelTaintToleration(pod, node);
  if (!status.IsSuccess()) return status.WithPlugin("TaintToleration");
  status = ModelNodeAffinity(pod, node);
  if (!status.IsSuccess()) return status.WithPlugin("NodeAffinity");
  status = ModelNodePorts(pod, others);
  if (!status.IsSuccess()) return status.WithPlugin("NodePorts");
  status = ModelNodeResourcesFit(pod, node, others);
  if (!status.IsSuccess()) return status.WithPlugin("NodeResourcesFit");
  return {};
}

}  // namespace

std::map<std::string, Status> ModelFilter(const RandomCluster& cluster,
                                          const Pod& pod) {
  std::map<std::string, Status> statuses;
  for (const auto& node : cluster.nodes) {
    std::vector<const Pod*> others;
    for (const auto& other : cluster.pods) {
      if (other->spec.node_name == node->metadata.name) {
        others.push_back(other.get());
      }
    }
    statuses[node->metadata.name] = FirstRejection(pod, *node, others);
  }
  return statuses;
}

}  // namespace minisched
