// Claims for which volumes are made, on the embedded API server. The tests play
// the provisioner. Cases from upstream's binder_test.go keep their names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/bind_pod_volumes_testing.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;
using ::testing::StartsWith;

constexpr char kSelectedBy[] = "volume.kubernetes.io/selected-node";

class BindProvisionsTest : public BindPodVolumesTest {
 protected:
  Labels AnnotationsOf(const std::string& claim) {
    return client_.Get<PersistentVolumeClaim>("default", claim)
        ->metadata.annotations;
  }
  // Adds the volume that a provisioner has made for nodes with this label.
  void MakeVolume(const std::string& name, const std::string& host) {
    client_.Send({.method = "POST",
                  .path = "/api/v1/persistentvolumes",
                  .body = R"({"metadata": {"name": ")" + name +
                          R"("}, "spec": {
                            "capacity": {"storage": "1Gi"},
                            "accessModes": ["ReadWriteOnce"],
                            "hostPath": {"path": "/none"},
                            "nodeAffinity": {"required": {"nodeSelectorTerms": [
                              {"matchExpressions": [
                                {"key": "host", "operator": "In",
                                 "values": [")" +
                          host + R"("]}]}]}}}})"});
    Patch<PersistentVolume>(name, R"({"metadata":{"labels":{"x":"y"}}})");
  }
};

// ---- TestBindAPIUpdate.

// "one-provisioned-pvc".
TEST_F(BindProvisionsTest, WritesTheSelectedNodeAndNothingElse) {
  ChooseFor({"c", "d"});
  EXPECT_EQ(AnnotationsOf("c").count(kSelectedBy), 0U);
  Bind();
  AwaitSleep();
  EXPECT_EQ(AnnotationsOf("c"), (Labels{{kSelectedBy, "node-1"}}));
  EXPECT_EQ(AnnotationsOf("d"),
            (Labels{{"example.com/team", "db"}, {kSelectedBy, "node-1"}}));
}

// "binding-succeed, provision-api-update-failed".
TEST_F(BindProvisionsTest, AClaimThatHasChangedIsAConflict) {
  ChooseFor({"a", "c", "d"});
  Patch<PersistentVolumeClaim>("d", R"({"metadata":{"labels":{"x":"y"}}})");
  Bind();
  EXPECT_THAT(Result(), StartsWith("Error: Operation cannot be fulfilled on "
                                   "persistentvolumeclaims \"d\": "));
  EXPECT_TRUE(client_.Get<PersistentVolume>("", "pv-a")->spec.claim_ref);
  EXPECT_EQ(AnnotationsOf("c").count(kSelectedBy), 1U)
      << "what was written stays";
  EXPECT_EQ(AnnotationsOf("d").count(kSelectedBy), 0U);
}

// The node was selected by a scheduler that was killed, or in an attempt that
// was cancelled.
TEST_F(BindProvisionsTest, GoesOnWithANodeThatWasSelectedBefore) {
  Patch<PersistentVolumeClaim>(
      "c", R"({"metadata":{"annotations":{"volume.kubernetes.io/)"
           R"(selected-node":"node-1"}}})");
  ChooseFor({"c"});
  EXPECT_THAT(Describe(volumes_), ::testing::ElementsAre("c=new"));
  Bind();
  AwaitSleep();
  EXPECT_EQ(AnnotationsOf("c"), (Labels{{kSelectedBy, "node-1"}}));
}

// ---- TestCheckBindings.

TEST_F(BindProvisionsTest, AClaimIsBoundOnceItsVolumeWasMade) {
  ChooseFor({"c"});
  Bind();
  AwaitSleep();
  AwaitWritten();
  EXPECT_EQ(Check(), "not yet") << "provisioning-pvc-unbound";
  Complete("c", "pv-c");
  EXPECT_EQ(Check(), "not yet")
      << "tolerate-provisioning-pvc-bound-pv-not-found";
  MakeVolume("pv-c", "here");
  EXPECT_EQ(Check(), "bound") << "provisioning-pvc-bound";
}

TEST_F(BindProvisionsTest, BindingBoundProvisioningUnbound) {
  ChooseFor({"a", "c"});
  Bind();
  AwaitSleep();
  AwaitWritten();
  Complete("a", "pv-a");
  EXPECT_EQ(Check(), "not yet");
}

TEST_F(BindProvisionsTest, WaitsWhileTheStoreIsOlderThanTheWrite) {
  ChooseFor({"c"});
  EXPECT_EQ(Check(), "selectedNode annotation reset for PVC \"c\"")
      << "provisioning-pvc-annotations-nil";
  PersistentVolumeClaim claim = *volumes_.dynamic_provisions[0].claim;
  claim.metadata.resource_version = "1000";
  volumes_.dynamic_provisions[0].claim =
      std::make_shared<const PersistentVolumeClaim>(claim);
  EXPECT_EQ(Check(), "not yet");
}

TEST_F(BindProvisionsTest, ProvisioningPvcNotExists) {
  ChooseFor({"c"});
  Patch<PersistentVolumeClaim>("c", R"({"metadata":{"finalizers":null}})");
  Delete<PersistentVolumeClaim>("c");
  EXPECT_EQ(Check(),
            "failed to check provisioning pvc: persistentvolumeclaims "
            "\"default/c\" not found");
}

TEST_F(BindProvisionsTest, AProvisionerThatFailsTakesTheNodeBack) {
  ChooseFor({"d"});
  Bind();
  AwaitSleep();
  AwaitWritten();
  const auto select = [&](const std::string& node) {
    Patch<PersistentVolumeClaim>(
        "d", R"({"metadata":{"annotations":{"volume.kubernetes.io/)"
             R"(selected-node":)" +
                 node + "}}}");
  };
  select("null");
  EXPECT_EQ(Check(), "provisioning failed for PVC \"d\"")
      << "provisioning-pvc-selected-node-dropped";
  select(R"("wrong-node")");
  EXPECT_EQ(Check(), "provisioning failed for PVC \"d\"")
      << "provisioning-pvc-selected-node-wrong-node";
}

// ---- TestBindPodVolumes.

// "binding-dynamic-pv-succeeds-after-time".
TEST_F(BindProvisionsTest, SucceedsAfterTheVolumeWasMade) {
  ChooseFor({"c"});
  Bind();
  AwaitSleep();
  AwaitWritten();
  EXPECT_FALSE(EndsAfter(1s));
  MakeVolume("pv-c", "here");
  Complete("c", "pv-c");
  AwaitSleep();
  EXPECT_TRUE(EndsAfter(1s));
  EXPECT_EQ(Result(), "Success");
}

// "node-affinity-fails-dynamic-provisioning".
TEST_F(BindProvisionsTest, EndsIfTheNodeCannotMountTheVolume) {
  ChooseFor({"c"});
  Bind();
  AwaitSleep();
  AwaitWritten();
  MakeVolume("pv-c", "elsewhere");
  Complete("c", "pv-c");
  EXPECT_TRUE(EndsAfter(1s));
  EXPECT_EQ(Result(),
            "Error: binding volumes: pv \"pv-c\" node affinity doesn't match "
            "node \"node-1\": no matching NodeSelectorTerms");
}

}  // namespace
}  // namespace minisched
