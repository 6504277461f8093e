#include "minisched/api/service.h"

#include "minisched/api/codec.h"

namespace minisched {

template <class Visitor, MaybeConst<ServiceSpec> T>
void VisitFields(Visitor& visit, T& spec) {
  visit("selector", spec.selector);
}

template <class Visitor, MaybeConst<Service> T>
void VisitFields(Visitor& visit, T& service) {
  visit("metadata", service.metadata);
  visit("spec", service.spec);
}

MINISCHED_CODEC(Service);

}  // namespace minisched
