// Cases from upstream's binder_test.go keep their names.
#include "plugins/volume_binder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/volume_binder_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kElsewhere[] =
    "node(s) didn't match PersistentVolume's node affinity";
constexpr char kNothingToBind[] =
    "node(s) didn't find available persistent volumes to bind";
constexpr char kVolumeGone[] =
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";

// Returns the bindings, such as "claim=volume", or the reasons.
std::vector<std::string> FindVolumes(const VolumeObjects& objects) {
  const VolumeCluster cluster(objects);
  const VolumeBinder binder(cluster.handle());
  std::vector<ClaimPtr> claims;
  for (const PersistentVolumeClaim& claim : objects.claims) {
    claims.push_back(std::make_shared<const PersistentVolumeClaim>(claim));
  }
  const PodVolumeClaims found = binder.GetPodVolumeClaims(claims);
  EXPECT_THAT(found.unbound_immediate, IsEmpty());
  const auto volumes =
      VolumeBinder::FindPodVolumes(found, NodeWithLabels({{"host", "here"}}));
  return volumes ? Describe(*volumes) : volumes.error();
}

// ---- TestFindPodVolumesWithoutProvisioning. What PreFilter rejects is tested
// ---- in volume_binding_test.cc.

TEST(FindPodVolumesTest, Upstream) {
  const auto find = [](const std::vector<PersistentVolumeClaim>& claims,
                       const std::vector<PersistentVolume>& volumes) {
    return FindVolumes({.claims = claims,
                        .volumes = volumes,
                        .classes = {Class("local", "WaitForFirstConsumer")}});
  };
  const PersistentVolumeClaim bound = Claim("bound", {.volume = "pv-bound"});
  const PersistentVolume pv_bound = VolumeOn("pv-bound", "host", {"here"});
  EXPECT_THAT(find({}, {}), ElementsAre()) << "no-pvcs";
  EXPECT_THAT(find({bound}, {pv_bound}), ElementsAre()) << "bound-pvc";
  EXPECT_THAT(find({bound}, {}), ElementsAre(kVolumeGone))
      << "bound-pvc,pv-not-exists";
  EXPECT_THAT(find({bound}, {VolumeOn("pv-bound", "host", {"there"})}),
              ElementsAre(kElsewhere))
      << "immediate-bound-pvc-wrong-node";
  EXPECT_THAT(find({Unbound("a", 1)}, {Local("pv-a", 1, "here")}),
              ElementsAre("a=pv-a"))
      << "unbound-pvc,pv-same-node";
  EXPECT_THAT(find({Unbound("a", 1)}, {Local("pv-a", 1, "there")}),
              ElementsAre(kNothingToBind))
      << "unbound-pvc,pv-different-node";
  EXPECT_THAT(find({Unbound("a", 1), Unbound("b", 1)},
                   {Local("pv-a", 1, "here"), Local("pv-b", 1, "here")}),
              ElementsAre("a=pv-a", "b=pv-b"))
      << "two-unbound-pvcs";
  EXPECT_THAT(find({Unbound("a", 5), Unbound("b", 1)},
                   {Local("pv-a", 5, "here"), Local("pv-b", 1, "here")}),
              ElementsAre("b=pv-b", "a=pv-a"))
      << "two-unbound-pvcs,order-by-size";
  EXPECT_THAT(find({Unbound("a", 1), Unbound("b", 1)},
                   {Local("pv-a", 1, "here"), Local("pv-b", 1, "there")}),
              ElementsAre(kNothingToBind))
      << "two-unbound-pvcs,partial-match";
  EXPECT_THAT(
      find({Unbound("a", 1), bound}, {Local("pv-a", 1, "here"), pv_bound}),
      ElementsAre("a=pv-a"))
      << "one-bound,one-unbound";
  EXPECT_THAT(
      find({Unbound("a", 1), bound}, {Local("pv-a", 1, "there"), pv_bound}),
      ElementsAre(kNothingToBind))
      << "one-bound,one-unbound,no-match";
}

TEST(FindPodVolumesTest, CountsTheReasonsInUpstreamsOrder) {
  const auto find = [](std::vector<PersistentVolume> volumes) {
    return FindVolumes(
        {.claims = {Unbound("a", 1), Claim("b", {.volume = "pv-b"})},
         .volumes = std::move(volumes),
         .classes = {Class("local", "WaitForFirstConsumer")}});
  };
  EXPECT_THAT(find({VolumeOn("pv-b", "host", {"there"})}),
              ElementsAre(kElsewhere, kNothingToBind));
  EXPECT_THAT(find({}), ElementsAre(kNothingToBind, kVolumeGone));
}

TEST(FindPodVolumesTest, AReservedVolumeBindsTheClaimToItsNode) {
  PersistentVolume reserved = Local("pv-b", 9, "there");
  reserved.spec.claim_ref = {.namespace_name = "default", .name = "a"};
  const auto find = [](const PersistentVolume& volume) {
    return FindVolumes({.claims = {Unbound("a", 1)},
                        .volumes = {Local("pv-a", 1, "here"), volume},
                        .classes = {Class("local", "WaitForFirstConsumer")}});
  };
  EXPECT_THAT(find(reserved), ElementsAre(kNothingToBind));
  reserved.spec.node_affinity = {};
  EXPECT_THAT(find(reserved), ElementsAre("a=pv-b"));
}

// TestFindPodVolumesWithProvisioning: "invalid-provisioner".
TEST(FindPodVolumesTest, ASelectedNodeMeansThatAVolumeHasToBeMade) {
  for (const char* node : {"node-1", "node-2"}) {
    PersistentVolumeClaim claim = Unbound("a", 1);
    claim.metadata.annotations["volume.kubernetes.io/selected-node"] = node;
    EXPECT_THAT(
        FindVolumes({.claims = {claim},
                     .volumes = {Local("pv-a", 1, "here")},
                     .classes = {Class("local", "WaitForFirstConsumer")}}),
        ElementsAre(kNothingToBind))
        << node;
  }
}

TEST(GetPodVolumeClaimsTest, SortsTheClaimsByWhatTheyNeed) {
  const VolumeCluster cluster(
      {.classes = {Class("local", "WaitForFirstConsumer"),
                   Class("at-once", "Immediate")}});
  std::vector<ClaimPtr> claims;
  for (const PersistentVolumeClaim& claim :
       {Unbound("large", 2), Claim("bound", {.volume = "gone"}),
        Unbound("small", 1), Claim("at-once", {.storage_class = "at-once"}),
        Claim("unknown", {.storage_class = "unknown"}),
        Claim(
            "prebound",
            {.volume = "pv", .completed = false, .storage_class = "local"})}) {
    claims.push_back(std::make_shared<const PersistentVolumeClaim>(claim));
  }
  const PodVolumeClaims found =
      VolumeBinder(cluster.handle()).GetPodVolumeClaims(claims);
  EXPECT_EQ(found.bound.size(), 1U);
  ASSERT_EQ(found.unbound_delay_binding.size(), 2U);
  EXPECT_EQ(found.unbound_delay_binding[0].claim->metadata.name, "small");
  EXPECT_THAT(found.unbound_immediate,
              ElementsAre(claims[3], claims[4], claims[5]));
}

// ---- TestAssumePodVolumes, TestRevertAssumedPodVolumes,
// TestFindAssumeVolumes.

class AssumePodVolumesTest : public ::testing::Test {
 protected:
  // Returns the volumes for these claims on a node that can mount all.
  PodVolumes Find(const std::vector<PersistentVolumeClaim>& claims) {
    std::vector<ClaimPtr> pointers;
    for (const PersistentVolumeClaim& claim : claims) {
      pointers.push_back(std::make_shared<const PersistentVolumeClaim>(claim));
    }
    return VolumeBinder::FindPodVolumes(binder_.GetPodVolumeClaims(pointers),
                                        NodeWithLabels({{"host", "here"}}))
        .value_or(PodVolumes());
  }
  // Returns the error, or "".
  std::string Assume(PodVolumes& volumes) {
    const auto assumed = binder_.AssumePodVolumes("node-1", volumes);
    return assumed ? "" : assumed.error();
  }

  const VolumeCluster cluster_{
      {.claims = {Unbound("a", 1), Unbound("b", 1),
                  Claim("bound", {.volume = "pv-c"})},
       .volumes = {Local("pv-a", 1, "here"), Local("pv-b", 1, "here")},
       .classes = {Class("local", "WaitForFirstConsumer")}}};
  VolumeBinder binder_{cluster_.handle()};
};

// "one-binding", "two-bindings".
TEST_F(AssumePodVolumesTest, AnAssumedVolumeIsNotFree) {
  PodVolumes first = Find({Unbound("a", 1)});
  EXPECT_EQ(Assume(first), "");
  EXPECT_EQ(first.static_bindings[0].volume->spec.claim_ref->name, "a");
  EXPECT_THAT(Describe(Find({Unbound("b", 1)})), ElementsAre("b=pv-b"));
  EXPECT_THAT(Describe(Find({Unbound("a", 1), Unbound("b", 1)})),
              ElementsAre("a=pv-a", "b=pv-b"));
  EXPECT_THAT(Describe(Find({Unbound("b", 1), Unbound("c", 1)})), IsEmpty());
}

TEST_F(AssumePodVolumesTest, ARevertedVolumeIsFreeAgain) {
  PodVolumes volumes = Find({Unbound("a", 1), Unbound("b", 1)});
  EXPECT_EQ(Assume(volumes), "");
  EXPECT_THAT(Describe(Find({Unbound("c", 1)})), IsEmpty());
  binder_.RevertAssumedPodVolumes(volumes);
  EXPECT_THAT(Describe(Find({Unbound("c", 1)})), ElementsAre("c=pv-a"));
}

// A pod that uses the same claim waits for the same volume.
TEST_F(AssumePodVolumesTest, PvAlreadyBound) {
  PodVolumes first = Find({Unbound("a", 1)});
  Assume(first);
  PodVolumes second = Find({Unbound("a", 1)});
  const VolumePtr assumed = second.static_bindings[0].volume;
  EXPECT_EQ(Assume(second), "");
  EXPECT_EQ(second.static_bindings[0].volume, assumed);
  EXPECT_EQ(assumed, first.static_bindings[0].volume);
}

// "tmpupdate-failed".
TEST_F(AssumePodVolumesTest, AVolumeThatHasChangedIsAnError) {
  PodVolumes volumes = Find({Unbound("a", 1), Unbound("b", 1)});
  auto changed =
      std::make_shared<PersistentVolume>(*volumes.static_bindings[1].volume);
  changed->metadata.resource_version = "0";
  volumes.static_bindings[1].volume = changed;
  EXPECT_EQ(Assume(volumes), "\"pv-b\" is out of sync (stored: 1, assume: 0)");
  binder_.RevertAssumedPodVolumes(volumes);
  EXPECT_THAT(Describe(Find({Unbound("c", 1)})), ElementsAre("c=pv-a"));
}

}  // namespace
}  // namespace minisched
