#include "minisched/api/storage.h"

#include <algorithm>

#include "minisched/api/codec.h"

namespace minisched {

template <class Visitor, MaybeConst<TopologySelectorLabelRequirement> T>
void VisitFields(Visitor& visit, T& requirement) {
  visit("key", requirement.key);
  visit("values", requirement.values);
}

template <class Visitor, MaybeConst<TopologySelectorTerm> T>
void VisitFields(Visitor& visit, T& term) {
  visit("matchLabelExpressions", term.match_label_expressions);
}

template <class Visitor, MaybeConst<StorageClass> T>
void VisitFields(Visitor& visit, T& storage_class) {
  visit("metadata", storage_class.metadata);
  visit("provisioner", storage_class.provisioner);
  visit("volumeBindingMode", storage_class.volume_binding_mode);
  visit("allowedTopologies", storage_class.allowed_topologies);
}

template <class Visitor, MaybeConst<CSIDriverSpec> T>
void VisitFields(Visitor& visit, T& spec) {
  visit("storageCapacity", spec.storage_capacity);
}

template <class Visitor, MaybeConst<CSIDriver> T>
void VisitFields(Visitor& visit, T& driver) {
  visit("metadata", driver.metadata);
  visit("spec", driver.spec);
}

template <class Visitor, MaybeConst<CSIStorageCapacity> T>
void VisitFields(Visitor& visit, T& capacity) {
  visit("metadata", capacity.metadata);
  visit("storageClassName", capacity.storage_class_name);
  visit("nodeTopology", capacity.node_topology);
  visit("capacity", capacity.capacity);
  visit("maximumVolumeSize", capacity.maximum_volume_size);
}

MINISCHED_CODEC(StorageClass);
MINISCHED_CODEC(CSIDriver);
MINISCHED_CODEC(CSIStorageCapacity);

const std::optional<Quantity>& VolumeLimit(const CSIStorageCapacity& capacity) {
  return capacity.maximum_volume_size ? capacity.maximum_volume_size
                                      : capacity.capacity;
}

bool MatchTopologySelectorTerms(const std::vector<TopologySelectorTerm>& terms,
                                const Labels& labels) {
  const auto is_met = [&](const TopologySelectorLabelRequirement& requirement) {
    const auto label = labels.find(requirement.key);
    return label != labels.end() &&
           std::ranges::count(requirement.values, label->second) > 0;
  };
  const auto matches = [&](const TopologySelectorTerm& term) {
    const auto& requirements = term.match_label_expressions;
    return !requirements.empty() && std::ranges::all_of(requirements, is_met);
  };
  return terms.empty() || std::ranges::any_of(terms, matches);
}

}  // namespace minisched
