#include "minisched/api/node.h"

#include "minisched/api/codec.h"

namespace minisched {

template <class Visitor, MaybeConst<Taint> T>
void VisitFields(Visitor& visit, T& taint) {
  visit("key", taint.key);
  visit("value", taint.value);
  visit("effect", taint.effect);
  visit("timeAdded", taint.time_added);
}

template <class Visitor, MaybeConst<NodeSpec> T>
void VisitFields(Visitor& visit, T& spec) {
  visit("unschedulable", spec.unschedulable);
  visit("taints", spec.taints);
}

template <class Visitor, MaybeConst<ContainerImage> T>
void VisitFields(Visitor& visit, T& image) {
  visit("names", image.names);
  visit("sizeBytes", image.size_bytes);
}

template <class Visitor, MaybeConst<NodeStatus> T>
void VisitFields(Visitor& visit, T& status) {
  visit("capacity", status.capacity);
  visit("allocatable", status.allocatable);
  visit("conditions", status.conditions);
  visit("images", status.images);
}

template <class Visitor, MaybeConst<Node> T>
void VisitFields(Visitor& visit, T& node) {
  visit("metadata", node.metadata);
  visit("spec", node.spec);
  visit("status", node.status);
}

MINISCHED_CODEC(Node);

}  // namespace minisched
