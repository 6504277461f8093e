#include "tests/model_rules_testing.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

namespace minisched {
namespace {

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
// Lt need a single integer. DrawCluster() draws no negative integers.
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

// A requirement in match_fields must have the operator In or NotIn, and exactly
// one value.
bool IsValidFieldRequirement(const NodeSelectorRequirement& r) {
  return (r.op == "In" || r.op == "NotIn") && r.values.size() == 1;
}

bool MatchesField(const NodeSelectorRequirement& r, const Node& node) {
  const std::string field =
      r.key == "metadata.name" ? node.metadata.name : std::string();
  return (r.op == "In") == (field == r.values[0]);
}

// Resources.

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
// time. Init containers run one after the other. A sidecar is an init container
// with restartPolicy Always. It starts at its place in this order and runs
// until the pod ends, together with everything that starts after it.
Quantity PeakContainerRequest(const Pod& pod, const std::string& resource) {
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

}  // namespace

bool ModelToleratesAny(const Pod& pod, const Taint& taint) {
  for (const Toleration& toleration : pod.spec.tolerations) {
    if (ModelTolerates(toleration, taint)) return true;
  }
  return false;
}

bool ModelMatchesTerm(const NodeSelectorTerm& term, const Node& node) {
  if (term.match_expressions.empty() && term.match_fields.empty()) {
    return false;
  }
  for (const auto& r : term.match_expressions) {
    if (!IsValidExpression(r)) return false;
    if (!MatchesExpression(r, node.metadata.labels)) return false;
  }
  for (const auto& r : term.match_fields) {
    if (!IsValidFieldRequirement(r) || !MatchesField(r, node)) return false;
  }
  return true;
}

Quantity AmountOf(const ResourceList& list, const std::string& resource) {
  const auto amount = list.find(resource);
  return amount == list.end() ? Quantity() : amount->second;
}

Quantity ModelRequest(const Pod& pod, const std::string& resource) {
  Quantity request = PeakContainerRequest(pod, resource);
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

}  // namespace minisched
