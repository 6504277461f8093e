// Claims that wait for the pod's node, in the plugin VolumeBinding. Cases from
// upstream's volume_binding_test.go keep their names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "plugins/volume_binding.h"
#include "plugins/volume_zone.h"
#include "tests/volume_binder_testing.h"

namespace minisched {
namespace {

constexpr char kNoFreeVolume[] =
    "UnschedulableAndUnresolvable: node(s) didn't find available persistent "
    "volumes to bind";

// A pod with claims, on its way through the extension points.
class DelayedClaimTest : public ::testing::Test {
 protected:
  std::string PreFilter(CycleState& state, const Pod& pod) {
    PreFilterResult left_over;
    return Describe(plugin_.PreFilter(state, pod, {}, left_over));
  }
  std::string Filter(const CycleState& state, const std::string& name,
                     const std::string& host) {
    Node node = NodeWithLabels({{"host", host}});
    node.metadata.name = name;
    return Describe(
        plugin_.Filter(state, pod_, NodeWithPods(std::move(node), {})));
  }
  std::string Reserve(CycleState& state, const Pod& pod,
                      const std::string& node) {
    return Describe(plugin_.Reserve(state, pod, node));
  }
  std::string PreFlight(const CycleState& state, const std::string& node) {
    return Describe(plugin_.PreBindPreFlight(state, pod_, node));
  }

  const VolumeCluster cluster_{
      {.claims = {Unbound("a", 1), Claim("b", {.volume = "pv-b"}),
                  Unbound("c", 1)},
       .volumes = {Local("pv-a", 1, "here"), VolumeOf("pv-b")},
       .classes = {Class("local", "WaitForFirstConsumer")}}};
  VolumeBinding plugin_{cluster_.handle()};
  const Pod pod_ = PodWithClaims("p", {"a"});
};

// "unbound claims no matches", "unbound claims with matches".
TEST_F(DelayedClaimTest, TheNodeMustHaveAVolume) {
  CycleState state;
  EXPECT_EQ(PreFilter(state, pod_), "Success");
  EXPECT_EQ(Filter(state, "m", "there"), kNoFreeVolume);
  EXPECT_EQ(Filter(state, "n", "here"), "Success");
}

TEST_F(DelayedClaimTest, AClaimInTwoVolumesOfThePodGetsOneVolume) {
  CycleState state;
  EXPECT_EQ(PreFilter(state, PodWithClaims("p", {"a", "a"})), "Success");
  EXPECT_EQ(Filter(state, "n", "here"), "Success");
}

// Preemption, and nominated pods, make Filter run with copies of the state.
TEST_F(DelayedClaimTest, CopiesOfTheStateShareWhatFilterFinds) {
  CycleState state;
  PreFilter(state, pod_);
  EXPECT_EQ(Filter(CycleState(state), "n", "here"), "Success");
  EXPECT_EQ(Reserve(state, pod_, "n"), "Success");
  EXPECT_EQ(PreFlight(state, "n"), "Success");
}

TEST_F(DelayedClaimTest, AReservedVolumeIsNotFreeUntilUnreserve) {
  CycleState state;
  PreFilter(state, pod_);
  Filter(state, "n", "here");
  EXPECT_EQ(Reserve(state, pod_, "n"), "Success");
  const Pod rival = PodWithClaims("rival", {"c"});
  const auto filter = [&] {
    CycleState other;
    EXPECT_EQ(PreFilter(other, rival), "Success");
    return Filter(other, "n", "here");
  };
  EXPECT_EQ(filter(), kNoFreeVolume);
  plugin_.Unreserve(state, pod_, "n");
  EXPECT_EQ(filter(), "Success");
  plugin_.Unreserve(state, pod_, "n");
}

TEST_F(DelayedClaimTest, APodWithoutUnboundClaimsHasNothingToDoInPreBind) {
  for (const Pod& pod : {PodWithClaims("p", {}), PodWithClaims("p", {"b"})}) {
    CycleState state;
    const std::string result = PreFilter(state, pod);
    EXPECT_EQ(result, pod.spec.volumes.empty() ? "Skip" : "Success");
    if (result != "Skip") Filter(state, "n", "here");
    EXPECT_EQ(Reserve(state, pod, "n"), "Success");
    EXPECT_EQ(PreFlight(state, "n"), "Skip");
    plugin_.Unreserve(state, pod, "n");
  }
}

// Test_PreBindPreFlight.
TEST_F(DelayedClaimTest, ThePreFlightFailsWithoutVolumesForTheNode) {
  CycleState state;
  PreFilter(state, pod_);
  Filter(state, "n", "here");
  EXPECT_EQ(PreFlight(state, "m"), "Error: no pod volume found for node \"m\"");
  EXPECT_EQ(PreFlight(CycleState(), "m"),
            "Error: no pod volume found for node \"m\"")
      << "without state";
}

// TestWithBinding of upstream's volume_zone_test.go: "unbound volume wait for
// first consumer".
TEST_F(DelayedClaimTest, VolumeZoneLeavesTheClaimToVolumeBinding) {
  EXPECT_EQ(Verdict<VolumeZone>(cluster_, pod_, cluster_.node()), "Skip");
}

}  // namespace
}  // namespace minisched
