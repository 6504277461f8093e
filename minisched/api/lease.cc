#include "minisched/api/lease.h"

#include "minisched/api/codec.h"

namespace minisched {

template <class Visitor, MaybeConst<LeaseSpec> T>
void VisitFields(Visitor& visit, T& spec) {
  visit("holderIdentity", spec.holder_identity);
  visit("leaseDurationSeconds", spec.lease_duration_seconds);
  visit("acquireTime", spec.acquire_time);
  visit("renewTime", spec.renew_time);
  visit("leaseTransitions", spec.lease_transitions);
  visit("strategy", spec.strategy);
  visit("preferredHolder", spec.preferred_holder);
}

template <class Visitor, MaybeConst<Lease> T>
void VisitFields(Visitor& visit, T& lease) {
  visit("metadata", lease.metadata);
  visit("spec", lease.spec);
}

MINISCHED_CODEC(Lease);

}  // namespace minisched
