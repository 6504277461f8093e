#include "minisched/api/lease.h"

#include <gtest/gtest.h>

#include "minisched/api/json.h"

namespace minisched {
namespace {

constexpr char kLease[] =
    R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",)"
    R"("metadata":{"annotations":{"a":"b"},"finalizers":["f"],)"
    R"("labels":{"l":"m"},"name":"kube-scheduler","namespace":"kube-system",)"
    R"("ownerReferences":[{"apiVersion":"v1","blockOwnerDeletion":true,)"
    R"("controller":true,"kind":"Node","name":"n","uid":"u"}],)"
    R"("resourceVersion":"7","uid":"v"},)"
    R"("spec":{"acquireTime":"2026-01-02T03:04:05.000006Z",)"
    R"("holderIdentity":"a_1","leaseDurationSeconds":15,"leaseTransitions":0,)"
    R"("preferredHolder":"b_2","renewTime":"2026-01-02T03:04:07.000000Z",)"
    R"("strategy":"OldestEmulationVersion"}})";

// An update sends back what the client has read.
TEST(LeaseTest, KeepsAllFields) {
  EXPECT_EQ(ToJson(FromJson<Lease>(kLease)), kLease);
  EXPECT_EQ(Lease::kResource.Path("kube-system", "kube-scheduler"),
            "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/"
            "kube-scheduler");
}

TEST(LeaseTest, AnEmptyHolderIsNotAnAbsentOne) {
  Lease lease;
  EXPECT_EQ(ToJson(lease),
            R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease"})");
  lease.spec.holder_identity = "";
  lease.spec.lease_transitions = 0;
  EXPECT_EQ(ToJson(lease),
            R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",)"
            R"("spec":{"holderIdentity":"","leaseTransitions":0}})");
  EXPECT_EQ(FromJson<Lease>(ToJson(lease)).spec, lease.spec);
}

}  // namespace
}  // namespace minisched
