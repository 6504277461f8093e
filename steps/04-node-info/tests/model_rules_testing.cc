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

// While a pod is resized, its containers have three kinds of requests.
enum class Source { kDesired, kAllocated, kActual };

bool IsInfeasible(const Pod& pod) {
  const auto& conditions = pod.status.conditions;
  return std::any_of(
      conditions.begin(), conditions.end(), [](const Condition& c) {
        return c.type == "PodResizePending" && c.reason == "Infeasible";
      });
}

// A list that the status doesn't have is the list before it. The desired
// requests don't stand in for others if the node reported that the resize is
// infeasible.
ResourceList RequestsOf(const Pod& pod, const Container& container,
                        Source source) {
  const ResourceList& desired = container.resources.requests;
  if (source == Source::kDesired) return desired;
  std::vector<ContainerStatus> statuses = pod.status.container_statuses;
  statuses.insert(statuses.end(), pod.status.init_container_statuses.begin(),
                  pod.status.init_container_statuses.end());
  for (const ContainerStatus& status : statuses) {
    if (status.name != container.name) continue;
    if (source == Source::kActual && status.resources &&
        !status.resources->requests.empty()) {
      return status.resources->requests;
    }
    if (!status.allocated_resources.empty()) return status.allocated_resources;
    break;
  }
  return IsInfeasible(pod) ? ResourceList() : desired;
}

// A pod needs the largest sum of requests of containers that run at the same
// time. Init containers run one after the other. A sidecar is an init container
// with restartPolicy Always. It starts at its place in this order and runs
// until the pod ends, together with everything that starts after it.
Quantity PeakContainerRequest(const Pod& pod, Source source,
                              const std::string& resource,
                              const Quantity& missing) {
  const auto request_of = [&](const Container& container) {
    const ResourceList requests = RequestsOf(pod, container, source);
    return requests.contains(resource) ? requests.at(resource) : missing;
  };
  Quantity sidecars;
  Quantity most;
  for (const Container& container : pod.spec.init_containers) {
    const Quantity request = request_of(container);
    most = std::max(most, Plus(sidecars, request));
    if (container.restart_policy == "Always") sidecars += request;
  }
  Quantity all = sidecars;
  for (const Container& container : pod.spec.containers) {
    all += request_of(container);
  }
  return std::max(most, all);
}

// The status of the pod may have two of the three sums.
bool HasSums(const PodStatus& status) {
  return !status.allocated_resources.empty() && status.resources &&
         !status.resources->requests.empty();
}

// The largest of the three sums counts.
Quantity ContainersRequest(const Pod& pod, const std::string& resource,
                           const Quantity& missing) {
  Quantity request;
  if (!IsInfeasible(pod)) {
    request = PeakContainerRequest(pod, Source::kDesired, resource, missing);
  }
  const PodStatus& status = pod.status;
  if (HasSums(status)) {
    return std::max({request, AmountOf(status.allocated_resources, resource),
                     AmountOf(status.resources->requests, resource)});
  }
  return std::max(
      {request,
       PeakContainerRequest(pod, Source::kAllocated, resource, missing),
       PeakContainerRequest(pod, Source::kActual, resource, missing)});
}

bool CanBePodLevel(const std::string& resource) {
  return resource == "cpu" || resource == "memory" ||
         resource.rfind("hugepages-", 0) == 0;
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

Quantity ModelRequest(const Pod& pod, const std::string& resource,
                      const Quantity& missing) {
  Quantity request = ContainersRequest(pod, resource, missing);
  const ResourceList& whole = pod.spec.resources.requests;
  const bool has_pod_level =
      std::any_of(whole.begin(), whole.end(),
                  [](const auto& each) { return CanBePodLevel(each.first); });
  if (has_pod_level && CanBePodLevel(resource)) {
    std::vector<const ResourceList*> lists;
    const auto& resources = pod.status.resources;
    if (!resources || !IsInfeasible(pod)) lists.push_back(&whole);
    if (resources) lists.push_back(&resources->requests);
    if (resources) lists.push_back(&pod.status.allocated_resources);
    std::optional<Quantity> largest;
    for (const ResourceList* list : lists) {
      if (!list->contains(resource)) continue;
      largest = std::max(largest.value_or(Quantity()), list->at(resource));
    }
    request = largest.value_or(request);
  }
  return Plus(request, AmountOf(pod.spec.overhead, resource));
}

bool ModelRequests(const Pod& pod, const std::string& resource) {
  const ResourceList& whole = pod.spec.resources.requests;
  const auto& resources = pod.status.resources;
  std::vector<ResourceList> lists = {pod.spec.overhead};
  if (!resources || !IsInfeasible(pod)) lists.push_back(whole);
  if (resources && !whole.empty()) {
    lists.push_back(resources->requests);
    lists.push_back(pod.status.allocated_resources);
  }
  for (const auto* containers :
       {&pod.spec.containers, &pod.spec.init_containers}) {
    for (const Container& container : *containers) {
      if (!IsInfeasible(pod)) lists.push_back(container.resources.requests);
      if (HasSums(pod.status)) continue;
      lists.push_back(RequestsOf(pod, container, Source::kAllocated));
      lists.push_back(RequestsOf(pod, container, Source::kActual));
    }
  }
  if (HasSums(pod.status)) {
    lists.push_back(pod.status.allocated_resources);
    lists.push_back(pod.status.resources->requests);
  }
  return std::any_of(lists.begin(), lists.end(),
                     [&](const auto& list) { return list.contains(resource); });
}

}  // namespace minisched
