#include "plugins/default_selector.h"

#include <algorithm>
#include <memory>

#include "minisched/api/parse_error.h"
#include "minisched/api/service.h"
#include "minisched/api/workloads.h"
#include "minisched/informer/shared_informer_factory.h"

namespace minisched {
namespace {

bool Selects(const Service& service, const Pod& pod) {
  return std::ranges::all_of(service.spec.selector, [&](const auto& label) {
    const auto found = pod.metadata.labels.find(label.first);
    return found != pod.metadata.labels.end() && found->second == label.second;
  });
}

// Returns the merged selectors of all services that select the pod.
Labels LabelsOfServices(const Pod& pod, SharedInformerFactory& informers) {
  Labels labels;
  for (const auto& service :
       informers.Of<Service>().store().List(pod.metadata.namespace_name)) {
    if (!Selects(*service, pod)) continue;
    labels.insert(service->spec.selector.begin(), service->spec.selector.end());
  }
  return labels;
}

// Returns the owner that manages the pod, or null.
const OwnerReference* ControllerOf(const Pod& pod) {
  const auto& owners = pod.metadata.owner_references;
  const auto found = std::ranges::find_if(owners, &OwnerReference::controller);
  return found == owners.end() ? nullptr : &*found;
}

// Returns the owner if it is a T that exists, or null.
template <class T>
std::shared_ptr<const T> Find(const OwnerReference& owner, const Pod& pod,
                              SharedInformerFactory& informers) {
  if (owner.kind != T::kResource.kind ||
      owner.api_version != T::kResource.ApiVersion()) {
    return nullptr;
  }
  return informers.Of<T>().store().Get(pod.metadata.namespace_name, owner.name);
}

// Adds the requirements of `other`.
void Add(LabelSelector& selector, const LabelSelector& other) {
  auto& requirements = selector.match_expressions;
  for (const auto& [key, value] : other.match_labels) {
    requirements.push_back({key, "In", {value}});
  }
  requirements.insert(requirements.end(), other.match_expressions.begin(),
                      other.match_expressions.end());
}

}  // namespace

Selector DefaultSelector(const Pod& pod, SharedInformerFactory& informers) {
  LabelSelector selector{.match_labels = LabelsOfServices(pod, informers)};
  Selector of_services = Selector::FromLabelSelector(selector);
  const OwnerReference* const owner = ControllerOf(pod);
  if (owner == nullptr) return of_services;
  if (const auto rc = Find<ReplicationController>(*owner, pod, informers)) {
    for (const auto& [key, value] : rc->spec.selector) {
      selector.match_labels[key] = value;
    }
  } else if (const auto rs = Find<ReplicaSet>(*owner, pod, informers)) {
    Add(selector, rs->spec.selector);
  } else if (const auto ss = Find<StatefulSet>(*owner, pod, informers)) {
    Add(selector, ss->spec.selector);
  }
  try {
    return Selector::FromLabelSelector(selector);
  } catch (const ParseError&) {
    return of_services;
  }
}

}  // namespace minisched
