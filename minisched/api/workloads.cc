#include "minisched/api/workloads.h"

#include "minisched/api/codec.h"

namespace minisched {

template <class Visitor, MaybeConst<ReplicationControllerSpec> T>
void VisitFields(Visitor& visit, T& spec) {
  visit("selector", spec.selector);
}

template <class Visitor, MaybeConst<ReplicationController> T>
void VisitFields(Visitor& visit, T& controller) {
  visit("metadata", controller.metadata);
  visit("spec", controller.spec);
}

template <class Visitor, MaybeConst<ReplicaSetSpec> T>
void VisitFields(Visitor& visit, T& spec) {
  visit("selector", spec.selector);
}

template <class Visitor, MaybeConst<ReplicaSet> T>
void VisitFields(Visitor& visit, T& set) {
  visit("metadata", set.metadata);
  visit("spec", set.spec);
}

template <class Visitor, MaybeConst<StatefulSetSpec> T>
void VisitFields(Visitor& visit, T& spec) {
  visit("selector", spec.selector);
}

template <class Visitor, MaybeConst<StatefulSet> T>
void VisitFields(Visitor& visit, T& set) {
  visit("metadata", set.metadata);
  visit("spec", set.spec);
}

MINISCHED_CODEC(ReplicationController);
MINISCHED_CODEC(ReplicaSet);
MINISCHED_CODEC(StatefulSet);

}  // namespace minisched
