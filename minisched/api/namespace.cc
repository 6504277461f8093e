#include "minisched/api/namespace.h"

#include "minisched/api/codec.h"

namespace minisched {

template <class Visitor, MaybeConst<Namespace> T>
void VisitFields(Visitor& visit, T& object) {
  visit("metadata", object.metadata);
}

MINISCHED_CODEC(Namespace);

}  // namespace minisched
