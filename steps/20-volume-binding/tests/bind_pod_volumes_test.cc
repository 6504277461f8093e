// Binds volumes on the embedded API server. The tests play the volume
// controller. Cases from upstream's binder_test.go keep their names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "minisched/base/executor.h"
#include "minisched/base/fake_clock.h"
#include "minisched/client/client.h"
#include "minisched/informer/shared_informer_factory.h"
#include "testing/embedded_server.h"
#include "tests/status_testing.h"
#include "tests/volume_binder_testing.h"

namespace minisched {

class VolumeBinderPeer {
 public:
  static std::string CheckBindings(const VolumeBinder& binder, const Pod& pod,
                                   const std::string& node,
                                   const PodVolumes& volumes) {
    const auto bound = binder.CheckBindings(pod, node, volumes);
    return bound ? (*bound ? "bound" : "not yet") : bound.error();
  }
};

namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kTwoClaims[] = R"(
apiVersion: v1
kind: Node
metadata: {name: node-1, labels: {host: here}}
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: default}
spec:
  containers: [{name: c, image: i}]
  volumes:
  - {name: a, persistentVolumeClaim: {claimName: a}}
  - {name: b, persistentVolumeClaim: {claimName: b}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: a, namespace: default}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
  storageClassName: local
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: b, namespace: default}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
  storageClassName: local
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-a, annotations: {example.com/rack: "7"}}
spec:
  accessModes: [ReadWriteOnce]
  capacity: {storage: 1Gi}
  storageClassName: local
  local: {path: /none}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: host, operator: In, values: [here]}]}]}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-b}
spec:
  accessModes: [ReadWriteOnce]
  capacity: {storage: 1Gi}
  storageClassName: local
  local: {path: /none}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: host, operator: In, values: [here]}]}]}}
)";

class BindPodVolumesTest : public ::testing::Test {
 protected:
  BindPodVolumesTest() {
    for (const char* name : {"pv-a", "pv-b"}) {
      client_.Patch<PersistentVolume>("", name, PatchType::kMerge,
                                      R"({"status":{"phase":"Available"}})",
                                      "status");
    }
    informers_.Of<Node>();
    informers_.Of<Pod>();
    informers_.Of<PersistentVolume>();
    informers_.Of<PersistentVolumeClaim>();
    informers_.Of<StorageClass>();
    informers_.Start(stop_.get_token());
    informers_.WaitForCacheSync({});
    pod_ = *client_.Get<Pod>("default", "p");
    const auto claim = [&](const char* name) {
      return client_.Get<PersistentVolumeClaim>("default", name);
    };
    auto found = VolumeBinder::FindPodVolumes(
        binder_.GetPodVolumeClaims({claim("a"), claim("b")}),
        *client_.Get<Node>("", "node-1"));
    volumes_ = std::move(found.value());
    EXPECT_TRUE(binder_.AssumePodVolumes(volumes_));
  }
  ~BindPodVolumesTest() override {
    stop_.request_stop();
    if (result_.valid()) result_.wait();
  }

  // Starts the task.
  void Bind() {
    const auto result = std::make_shared<std::promise<Status>>();
    result_ = result->get_future();
    binder_.BindPodVolumes(pod_, node_name_, volumes_, stop_.get_token())
        .Start([result](const Status& status) { result->set_value(status); });
  }
  // Blocks until the binder sleeps, so that it has written all volumes.
  void AwaitSleep() { clock_.AwaitSleepers(1); }
  std::string Result() { return Describe(result_.get()); }
  // Advances the clock, blocks until the binder has checked what is due, and
  // returns true if it has ended.
  bool EndsAfter(Clock::Duration duration) {
    clock_.Advance(duration);
    std::promise<void> checked;
    executor_.PostAfter(0s, [&] { checked.set_value(); });
    checked.get_future().wait();
    return result_.wait_for(0s) == std::future_status::ready;
  }

  std::string Check() {
    return VolumeBinderPeer::CheckBindings(binder_, pod_, node_name_, volumes_);
  }

  // Changes an object, and waits until the informer has the change.
  template <class T>
  void Patch(const std::string& name, const std::string& patch) {
    const std::string ns = T::kResource.namespaced ? "default" : "";
    const auto now = client_.Patch<T>(ns, name, PatchType::kMerge, patch);
    AwaitStore<T>(name, now->metadata.resource_version);
  }
  template <class T>
  void Delete(const std::string& name) {
    client_.Delete<T>(T::kResource.namespaced ? "default" : "", name,
                      {.grace_period_seconds = 0});
    AwaitStore<T>(name, "");
  }
  // Waits until the informers have what the binder has written.
  void AwaitWritten() {
    for (const auto& [claim, volume] : volumes_.static_bindings) {
      AwaitStore<PersistentVolume>(volume->metadata.name,
                                   volume->metadata.resource_version);
    }
  }
  // Does what the volume controller does to a claim whose volume is reserved.
  void Complete(const std::string& claim, const std::string& volume) {
    Patch<PersistentVolumeClaim>(
        claim,
        R"({"metadata":{"annotations":{"pv.kubernetes.io/bind-completed":)"
        R"("yes"}},"spec":{"volumeName":")" +
            volume + R"("}})");
  }
  void CompleteAll() {
    for (const auto& [claim, volume] : volumes_.static_bindings) {
      Complete(claim->metadata.name, volume->metadata.name);
    }
  }

  EmbeddedServer server_{kTwoClaims};
  Client client_{server_.config()};
  std::stop_source stop_;
  FakeClock clock_;
  Executor executor_{1, clock_};
  Snapshot snapshot_;
  SharedInformerFactory informers_{client_};
  VolumeBinder binder_{NewHandle(
      snapshot_,
      {.informers = informers_, .client = client_, .executor = executor_})};
  Pod pod_;
  const std::string node_name_ = "node-1";
  PodVolumes volumes_;
  std::future<Status> result_;

 private:
  template <class T>
  void AwaitStore(const std::string& name, const std::string& version) {
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (std::chrono::steady_clock::now() < deadline) {
      const auto stored = informers_.Of<T>().store().Get(
          T::kResource.namespaced ? "default" : "", name);
      if ((stored ? stored->metadata.resource_version : "") == version) return;
      std::this_thread::sleep_for(1ms);
    }
    throw std::runtime_error(name + " has not changed within 20 s");
  }
};

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
  EXPECT_TRUE(binder_.AssumePodVolumes(again));
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
