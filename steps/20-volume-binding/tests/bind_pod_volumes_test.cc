// Binds volumes on the embedded API server. Cases from upstream's
// binder_test.go keep their names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>

#include "tests/bind_pod_volumes_testing.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// ---- TestBindAPIUpdate.

// "two-bindings".
TEST_F(BindPodVolumesTest, WritesTheClaimRefAndNothingElse) {
  Bind();
  AwaitSleep();
  const auto volume = client_.Get<PersistentVolume>("", "pv-a");
  ASSERT_TRUE(volume->spec.claim_ref);
  EXPECT_EQ(volume->spec.claim_ref->name, "a");
  EXPECT_EQ(volume->spec.claim_ref->uid,
            client_.Get<PersistentVolumeClaim>("default", "a")->metadata.uid);
  EXPECT_EQ(volume->metadata.annotations,
            (Labels{{"example.com/rack", "7"},
                    {"pv.kubernetes.io/bound-by-controller", "yes"}}));
  EXPECT_EQ(client_.Get<PersistentVolume>("", "pv-b")->spec.claim_ref->name,
            "b");
  // The type PersistentVolume doesn't have this field.
  EXPECT_THAT(
      client_.Send({.method = "GET", .path = "/api/v1/persistentvolumes/pv-a"}),
      HasSubstr(R"("local":{"path":"/none"})"));
}

// "api-update-failed".
TEST_F(BindPodVolumesTest, AVolumeThatHasChangedIsAConflict) {
  Patch<PersistentVolume>("pv-b", R"({"metadata":{"labels":{"x":"y"}}})");
  Bind();
  EXPECT_THAT(Result(), StartsWith("Error: Operation cannot be fulfilled on "
                                   "persistentvolumes \"pv-b\": "));
  EXPECT_TRUE(client_.Get<PersistentVolume>("", "pv-a")->spec.claim_ref)
      << "what was written stays";
  EXPECT_FALSE(client_.Get<PersistentVolume>("", "pv-b")->spec.claim_ref);
}

// "api-already-updated": another scheduler was killed after its PATCH.
TEST_F(BindPodVolumesTest, GoesOnWithAVolumeThatWasReservedBefore) {
  Bind();
  AwaitSleep();
  AwaitWritten();
  const auto claim = client_.Get<PersistentVolumeClaim>("default", "a");
  PodVolumes again =
      VolumeBinder::FindPodVolumes(binder_.GetPodVolumeClaims({claim}),
                                   *client_.Get<Node>("", "node-1"))
          .value();
  EXPECT_THAT(Describe(again), ::testing::ElementsAre("a=pv-a"));
  Assume(again);
  std::promise<Status> result;
  binder_.BindPodVolumes(pod_, node_name_, again, {})
      .Start([&](const Status& status) { result.set_value(status); });
  CompleteAll();
  std::future<Status> ended = result.get_future();
  while (ended.wait_for(1ms) != std::future_status::ready) clock_.Advance(1s);
  EXPECT_EQ(Describe(ended.get()), "Success");
  Result();
}

// ---- TestCheckBindings. Other cases are in the tests of BindPodVolumes.

TEST_F(BindPodVolumesTest, ClaimsAreBoundOnceTheControllerSaysSo) {
  Bind();
  AwaitSleep();
  AwaitWritten();
  EXPECT_EQ(Check(), "not yet") << "binding-prebound";
  Complete("a", "pv-a");
  EXPECT_EQ(Check(), "not yet") << "binding-one-bound,one-unbound";
  Complete("b", "pv-b");
  EXPECT_EQ(Check(), "bound") << "binding-bound";
}

// If two pods have one claim, the volume controller binds the claim to the
// volume of one, and gives the other volume back.
TEST_F(BindPodVolumesTest, AClaimWithAnotherVolumeIsNotBound) {
  Bind();
  AwaitSleep();
  AwaitWritten();
  Complete("a", "pv-c");
  Complete("b", "pv-b");
  EXPECT_EQ(Check(), "not yet");
  Patch<PersistentVolume>("pv-a", R"({"spec":{"claimRef":{"uid":"other"}}})");
  EXPECT_EQ(Check(), "ClaimRef got reset for pv \"pv-a\"")
      << "another claim has got the volume";
}

TEST_F(BindPodVolumesTest, WaitsWhileTheStoreIsOlderThanTheWrite) {
  PersistentVolume volume = *volumes_.static_bindings[0].volume;
  volume.metadata.resource_version = "1000";
  volumes_.static_bindings[0].volume =
      std::make_shared<const PersistentVolume>(volume);
  EXPECT_EQ(Check(), "not yet");
}

TEST_F(BindPodVolumesTest, BindingClaimrefNil) {
  EXPECT_EQ(Check(), "ClaimRef got reset for pv \"pv-a\"");
  Bind();
  AwaitSleep();
  AwaitWritten();
  Patch<PersistentVolume>("pv-a", R"({"spec":{"claimRef":{"uid":null}}})");
  EXPECT_EQ(Check(), "ClaimRef got reset for pv \"pv-a\"")
      << "binding-claimref-uid-empty";
}

TEST_F(BindPodVolumesTest, BindingPvNotExists) {
  Patch<PersistentVolume>("pv-a", R"({"metadata":{"finalizers":null}})");
  Delete<PersistentVolume>("pv-a");
  EXPECT_EQ(Check(),
            "failed to check binding: persistentvolumes \"pv-a\" not found");
}

TEST_F(BindPodVolumesTest, BindingPvcNotExists) {
  Patch<PersistentVolumeClaim>("a", R"({"metadata":{"finalizers":null}})");
  Delete<PersistentVolumeClaim>("a");
  EXPECT_EQ(Check(),
            "failed to check binding: persistentvolumeclaims \"default/a\" not "
            "found");
}

TEST_F(BindPodVolumesTest, NodeNotExists) {
  Delete<Node>("node-1");
  EXPECT_EQ(Check(),
            "failed to get node \"node-1\": node \"node-1\" not found");
}

TEST_F(BindPodVolumesTest, ANamesakeIsNotThePod) {
  pod_.metadata.uid = "other";
  EXPECT_EQ(Check(), "pod does not exist any more: pod \"p\" not found");
}

// ---- TestBindPodVolumes.

// "binding-static-pv-succeeds-after-time".
TEST_F(BindPodVolumesTest, SucceedsAfterTheControllerHasBoundTheClaims) {
  Bind();
  AwaitSleep();
  AwaitWritten();
  EXPECT_FALSE(EndsAfter(1s));
  CompleteAll();
  AwaitSleep();
  EXPECT_TRUE(EndsAfter(1s));
  EXPECT_EQ(Result(), "Success");
}

// "bound-by-pv-controller-before-bind", "already-bound".
TEST_F(BindPodVolumesTest, SucceedsIfTheClaimsAreBoundBefore) {
  CompleteAll();
  Bind();
  AwaitSleep();
  AwaitWritten();
  EXPECT_TRUE(EndsAfter(1s));
  EXPECT_EQ(Result(), "Success");
}

// "pod-deleted-after-time".
TEST_F(BindPodVolumesTest, EndsIfThePodIsDeleted) {
  Bind();
  AwaitSleep();
  Delete<Pod>("p");
  EXPECT_TRUE(EndsAfter(1s));
  EXPECT_EQ(Result(),
            "Error: binding volumes: pod does not exist any more: pod \"p\" "
            "not found");
}

// "node-affinity-fails".
TEST_F(BindPodVolumesTest, EndsIfTheNodeCannotMountTheVolumeAnyMore) {
  Bind();
  AwaitSleep();
  AwaitWritten();
  Patch<Node>("node-1", R"({"metadata":{"labels":{"host":"elsewhere"}}})");
  EXPECT_TRUE(EndsAfter(1s));
  EXPECT_EQ(Result(),
            "Error: binding volumes: pv \"pv-a\" node affinity doesn't match "
            "node \"node-1\": no matching NodeSelectorTerms");
}

// "binding-times-out".
TEST_F(BindPodVolumesTest, EndsAfterTenMinutes) {
  Bind();
  AwaitSleep();
  AwaitWritten();
  for (int second = 1; second < 600; ++second) {
    ASSERT_FALSE(EndsAfter(1s)) << second;
    AwaitSleep();
  }
  EXPECT_TRUE(EndsAfter(1s));
  EXPECT_EQ(Result(), "Error: binding volumes: context deadline exceeded");
}

TEST_F(BindPodVolumesTest, EndsAtStop) {
  Bind();
  AwaitSleep();
  stop_.request_stop();
  EXPECT_EQ(Result(), "Error: binding volumes: context canceled");
}

// After Unreserve, a volume that was written still counts as reserved, although
// the informer may not have it yet.
TEST_F(BindPodVolumesTest, AWrittenVolumeStaysReserved) {
  const auto claim = std::make_shared<const PersistentVolumeClaim>([&] {
    auto other = *client_.Get<PersistentVolumeClaim>("default", "a");
    other.metadata.name = "c";
    other.metadata.uid = "uid-c";
    return other;
  }());
  Bind();
  AwaitSleep();
  binder_.RevertAssumedPodVolumes(volumes_);
  const PodVolumeClaims found = binder_.GetPodVolumeClaims({claim});
  EXPECT_TRUE(found.unbound_delay_binding[0].volumes.empty());
}

}  // namespace
}  // namespace minisched
