// Cases from upstream's volume_restrictions_test.go keep their names.
#include "plugins/volume_restrictions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/default_framework_testing.h"
#include "tests/hints_testing.h"
#include "tests/volumes_testing.h"

namespace minisched {
namespace {

constexpr char kNoDisk[] =
    "Filter: Unschedulable: node(s) had no available disk";
constexpr char kInUse[] =
    "Filter: Unschedulable: node(s) unavailable due to PersistentVolumeClaim "
    "with ReadWriteOncePod access mode already in-use by another pod";

// ---- Inline disks.

Volume Gce(const std::string& name) {
  return {.gce_persistent_disk = {{.pd_name = name}}};
}

// Returns the verdict on a node with a pod that has the other disk.
std::string AfterDisk(const Volume& disk, const Volume& other) {
  static const VolumeCluster cluster({});
  const NodeInfo node = NodeWithPods(NodeWithLabels({}),
                                     {PodWithVolume("other", other, "node-1")});
  return Verdict<VolumeRestrictions>(cluster, PodWithVolume("p", disk), node);
}

TEST(VolumeRestrictionsTest, SkipsPodsWithoutDisksAndClaims) {
  const VolumeCluster cluster({});
  const Pod nothing = PodWithClaims("p", {});
  EXPECT_EQ(Verdict<VolumeRestrictions>(cluster, nothing, cluster.node()),
            "Skip")
      << "nothing";
  EXPECT_EQ(AfterDisk({.name = "empty-dir"}, Gce("foo")), "Skip")
      << "pod with a volume that doesn't have restrictions";
}

TEST(VolumeRestrictionsTest, RejectsANodeWithAPodThatHasTheDisk) {
  EXPECT_EQ(AfterDisk(Gce("foo"), Gce("foo")), kNoDisk);
  EXPECT_EQ(AfterDisk(Gce("foo"), Gce("bar")), "Filter: Success");
}

// ---- ReadWriteOncePod: TestAccessModeConflicts.

const std::vector<PersistentVolumeClaim> kClaims = {
    Claim("rwop-1", {.access_mode = "ReadWriteOncePod"}),
    Claim("rwop-2", {.access_mode = "ReadWriteOncePod"}),
    Claim("rwx", {.access_mode = "ReadWriteMany"})};

TEST(VolumeRestrictionsTest, FailedToGetPVC) {
  const VolumeCluster cluster({});
  EXPECT_EQ(Verdict<VolumeRestrictions>(cluster, PodWithClaims("p", {"rwop-1"}),
                                        cluster.node()),
            "UnschedulableAndUnresolvable: persistentvolumeclaim \"rwop-1\" "
            "not found");
}

TEST(VolumeRestrictionsTest, AccessModeConflicts) {
  const struct {
    const char* name;
    std::vector<std::string> claims;
    std::vector<std::string> claims_in_use;
    const char* verdict;
  } kCases[] = {{"no access mode conflict", {"rwop-1"}, {"rwx"}, "Skip"},
                {"a shared claim", {"rwx"}, {"rwx"}, "Skip"},
                {"access mode conflict, unschedulable",
                 {"rwop-1"},
                 {"rwop-1", "rwx"},
                 kInUse},
                {"two conflicts, unschedulable",
                 {"rwop-1", "rwop-2"},
                 {"rwop-1", "rwop-2", "rwx"},
                 kInUse}};
  for (const auto& test : kCases) {
    SCOPED_TRACE(test.name);
    const VolumeCluster cluster(
        {.claims = kClaims,
         .pods = {PodWithClaims("other", test.claims_in_use, "node-1")}});
    EXPECT_EQ(Verdict<VolumeRestrictions>(
                  cluster, PodWithClaims("p", test.claims), cluster.node()),
              test.verdict);
  }
}

TEST(VolumeRestrictionsTest, AClaimOfAnotherNamespaceIsAnotherClaim) {
  Pod other = PodWithClaims("other", {"rwop-1"}, "node-1");
  other.metadata.namespace_name = "shop";
  const VolumeCluster cluster({.claims = kClaims, .pods = {other}});
  EXPECT_EQ(Verdict<VolumeRestrictions>(cluster, PodWithClaims("p", {"rwop-1"}),
                                        cluster.node()),
            "Skip");
}

// As preemption does it, and the check of nominated pods.
TEST(VolumeRestrictionsTest, CountsPodsThatAreRemovedAndAdded) {
  const Pod first = PodWithClaims("first", {"rwop-1"}, "node-1");
  const Pod second = PodWithClaims("second", {"rwop-2"}, "node-1");
  Pod foreign = PodWithClaims("foreign", {"rwop-1"}, "node-1");
  foreign.metadata.namespace_name = "shop";
  const VolumeCluster cluster({.claims = kClaims, .pods = {first, second}});
  const VolumeRestrictions plugin(cluster.handle());
  const Pod pod = PodWithClaims("p", {"rwop-1", "rwop-2"});
  CycleState state;
  PreFilterResult left_over;
  ASSERT_TRUE(plugin.PreFilter(state, pod, {}, left_over).IsSuccess());
  const auto info = [](const Pod& each) {
    return NewPodInfo(std::make_shared<const Pod>(each));
  };
  const auto fits = [&](const CycleState& now) {
    return plugin.Filter(now, pod, NodeInfo(cluster.node())).IsSuccess();
  };
  CycleState copy = state;
  plugin.RemovePod(copy, pod, *info(first), cluster.node());
  EXPECT_FALSE(fits(copy)) << "the second pod is left";
  plugin.RemovePod(copy, pod, *info(second), cluster.node());
  EXPECT_TRUE(fits(copy));
  EXPECT_FALSE(fits(state)) << "a copy is independent";
  plugin.AddPod(copy, pod, *info(foreign), cluster.node());
  EXPECT_TRUE(fits(copy)) << "a claim of another namespace";
  plugin.AddPod(copy, pod, *info(first), cluster.node());
  EXPECT_FALSE(fits(copy));
}

// ---- Events and hints.

TEST(VolumeRestrictionsTest, RegistersTheEventsOfKubeScheduler) {
  EXPECT_THAT(
      EventsOf(NewDefaultFramework(), "VolumeRestrictions"),
      ::testing::ElementsAre("AssignedPod/Delete with a hint", "Node/Add",
                             "PersistentVolumeClaim/Add with a hint"));
}

// Test_isSchedulableAfterAssignedPodDeleted.
TEST(VolumeRestrictionsTest, AfterAPodIsDeleted) {
  const VolumeCluster cluster({});
  const VolumeRestrictions plugin(cluster.handle());
  const auto hint = [&](const Pod& pod, Pod deleted) {
    return HintAfter(plugin, pod,
                     {{EventResource::kAssignedPod, action::kDelete}},
                     std::make_shared<const Pod>(std::move(deleted)), {});
  };
  const Pod disk = PodWithVolume("p", Gce("foo"));
  const Pod claim = PodWithClaims("p", {"a", "b"});
  EXPECT_EQ(hint(disk, PodWithVolume("other", Gce("foo"), "n")), kWakes);
  EXPECT_EQ(hint(disk, PodWithVolume("other", Gce("bar"), "n")), kDoesNotWake);
  EXPECT_EQ(hint(claim, PodWithClaims("other", {"c", "b"}, "n")), kWakes);
  EXPECT_EQ(hint(claim, PodWithClaims("other", {"c"}, "n")), kDoesNotWake);
  EXPECT_EQ(hint(claim, PodWithVolume("other", Gce("foo"), "n")), kDoesNotWake);
  Pod foreign = PodWithClaims("other", {"a"}, "n");
  foreign.spec.volumes.push_back(Gce("foo"));
  foreign.metadata.namespace_name = "shop";
  EXPECT_EQ(hint(claim, foreign), kDoesNotWake) << "another namespace";
  EXPECT_EQ(hint(disk, foreign), kDoesNotWake) << "as upstream";
}

// Test_isSchedulableAfterPersistentVolumeClaimChange.
TEST(VolumeRestrictionsTest, AfterAClaimIsAdded) {
  const VolumeCluster cluster({});
  const VolumeRestrictions plugin(cluster.handle());
  const auto hint = [&](const Pod& pod, PersistentVolumeClaim claim) {
    return HintAfter(
        plugin, pod, {{EventResource::kPersistentVolumeClaim, action::kAdd}},
        {}, std::make_shared<const PersistentVolumeClaim>(std::move(claim)));
  };
  const Pod pod = PodWithClaims("p", {"a", "b"});
  EXPECT_EQ(hint(pod, Claim("b")), kWakes);
  EXPECT_EQ(hint(pod, Claim("c")), kDoesNotWake);
  PersistentVolumeClaim foreign = Claim("a");
  foreign.metadata.namespace_name = "shop";
  EXPECT_EQ(hint(pod, foreign), kDoesNotWake);
  EXPECT_EQ(
      hint(PodWithVolume("p", {.name = "v", .ephemeral = {{}}}), Claim("p-v")),
      kDoesNotWake);
}

}  // namespace
}  // namespace minisched
