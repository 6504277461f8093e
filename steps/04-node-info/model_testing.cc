#include "model_testing.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

namespace minisched {
namespace {

Status Unresolvable(const std::string& reason) {
  return {Code::kUnschedulableAndUnresolvable, reason};
}

// Taints and tolerations.

// A toleration matches a taint if the keys and the effects are the same, and
// either the operator is Exists or the values are the same. An empty key
// matches all keys, and an empty effect matches all effects.
bool ModelTolerates(const Toleration& toleration, const Taint& taint) {
  const bool same_effect =
      toleration.effect.empty() || toleration.effect == taint.effect;
  const bool same_key = toleration.key.empty() || toleration.key == taint.key;
  const bool same_value =
      toleration.operation == "Exists" || toleration.value == taint.value;
  return same_effect && same_key && same_value;
}

bool ModelToleratesAny(const Pod& pod, const Taint& taint) {
  for (const Toleration& toleration : pod.spec.tolerations) {
    if (ModelTolerates(toleration, taint)) return true;
  }
  return false;
}

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

std::optional<int> ToNumber(const std::string& text) {
  const bool is_number =
      !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return std::isdigit(static_cast<unsigned char>(c)) != 0;
      });
  if (!is_number) return std::nullopt;
  return std::stoi(text);
}

bool Contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// In and NotIn need values, Exists and DoesNotExist must have none, and Gt and
// Lt need a single integer.
bool IsValidExpression(const NodeSelectorRequirement& r) {
  if (r.op == "In" || r.op == "NotIn") return !r.values.empty();
  if (r.op == "Exists" || r.op == "DoesNotExist") return r.values.empty();
  if (r.op == "Gt" || r.op == "Lt") {
    return r.values.size() == 1 && ToNumber(r.values[0]).has_value();
  }
  return false;
}

// NotIn and DoesNotExist match nodes without the label. Gt and Lt compare the
// label with the value as integers and match no label that isn't an integer.
bool MatchesExpression(const NodeSelectorRequirement& r, const Labels& labels) {
  const auto label = labels.find(r.key);
  const bool exists = label != labels.end();
  if (r.op == "Exists") return exists;
  if (r.op == "DoesNotExist") return !exists;
  if (r.op == "In") return exists && Contains(r.values, label->second);
  if (r.op == "NotIn") return !exists || !Contains(r.values, label->second);
  if (!exists) return false;
  const auto number = ToNumber(label->second);
  if (!number) return false;
  return r.op == "Gt" ? *number > *ToNumber(r.values[0])
                      : *number < *ToNumber(r.values[0]);
}

// The fields of match_fields can only be tested with In and NotIn and one
// value.
bool IsValidField(const NodeSelectorRequirement& r) {
  return (r.op == "In" || r.op == "NotIn") && r.values.size() == 1;
}

bool MatchesField(const NodeSelectorRequirement& r, const Node& node) {
  const std::string field =
      r.key == "metadata.name" ? node.metadata.name : std::string();
  return (r.op == "In") == (field == r.values[0]);
}

// The requirements of a term are ANDed. A null or empty term matches no node,
// and neither does an invalid one.
bool MatchesTerm(const NodeSelectorTerm& term, const Node& node) {
  if (term.match_expressions.empty() && term.match_fields.empty()) {
    return false;
  }
  for (const auto& r : term.match_expressions) {
    if (!IsValidExpression(r)) return false;
    if (!MatchesExpression(r, node.metadata.labels)) return false;
  }
  for (const auto& r : term.match_fields) {
    if (!IsValidField(r) || !MatchesField(r, node)) return false;
  }
  return true;
}

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
    const bool any =
        std::any_of(terms.begin(), terms.end(),
                    [&](const auto& term) { return MatchesTerm(term, node); });
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
    if (!Contains(r.values, name)) return false;
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

Quantity AmountOf(const ResourceList& list, const std::string& resource) {
  const auto amount = list.find(resource);
  return amount == list.end() ? Quantity() : amount->second;
}

Quantity Plus(Quantity a, const Quantity& b) { return a += b; }

// While a pod is resized, the scheduler counts the largest of the desired, the
// allocated and the actual amount. The desired amount doesn't count if the node
// reported that the resize is infeasible.
Quantity LargestOf(const Pod& pod, const Quantity& desired,
                   const Quantity& allocated, const Quantity& actual) {
  const auto& conditions = pod.status.conditions;
  const bool infeasible =
      std::any_of(conditions.begin(), conditions.end(), [](const Condition& c) {
        return c.type == "PodResizePending" && c.reason == "Infeasible";
      });
  return std::max({infeasible ? Quantity() : desired, allocated, actual});
}

Quantity RequestOf(const Pod& pod, const Container& container,
                   const std::vector<ContainerStatus>& statuses,
                   const std::string& resource) {
  const Quantity desired = AmountOf(container.resources.requests, resource);
  for (const ContainerStatus& status : statuses) {
    if (status.name != container.name || !status.resources) continue;
    return LargestOf(pod, desired,
                     AmountOf(status.allocated_resources, resource),
                     AmountOf(status.resources->requests, resource));
  }
  return desired;
}

// A pod needs the largest sum of requests of containers that run at the same
// time. Init containers run one after the other. Sidecars start in the same
// order and run until the pod ends, together with all other containers.
Quantity MostOfContainers(const Pod& pod, const std::string& resource) {
  Quantity sidecars;
  Quantity most;
  for (const Container& container : pod.spec.init_containers) {
    if (container.restart_policy == "Always") {
      sidecars += RequestOf(pod, container, pod.status.init_container_statuses,
                            resource);
      most = std::max(most, sidecars);
    } else {
      most = std::max(
          most,
          Plus(sidecars, AmountOf(container.resources.requests, resource)));
    }
  }
  Quantity all = sidecars;
  for (const Container& container : pod.spec.containers) {
    all += RequestOf(pod, container, pod.status.container_statuses, resource);
  }
  return std::max(most, all);
}

// Requests of the pod as a whole, for cpu, memory or huge pages, replace those
// of its containers. The overhead is added.
Quantity RequestOf(const Pod& pod, const std::string& resource) {
  Quantity request = MostOfContainers(pod, resource);
  const ResourceList& whole = pod.spec.resources.requests;
  if (whole.contains(resource)) {
    request = AmountOf(whole, resource);
    if (pod.status.resources) {
      request = LargestOf(pod, request,
                          AmountOf(pod.status.allocated_resources, resource),
                          AmountOf(pod.status.resources->requests, resource));
    }
  }
  return Plus(request, AmountOf(pod.spec.overhead, resource));
}

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
    const Quantity request = RequestOf(pod, resource);
    if (request.IsZero()) continue;
    Quantity sum = request;
    for (const Pod* other : others) sum += RequestOf(*other, resource);
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
