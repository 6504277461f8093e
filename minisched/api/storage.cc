#include "minisched/api/storage.h"

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

MINISCHED_CODEC(StorageClass);

}  // namespace minisched
