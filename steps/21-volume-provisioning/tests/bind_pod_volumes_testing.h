#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "minisched/base/executor.h"
#include "minisched/base/fake_clock.h"
#include "minisched/client/client.h"
#include "minisched/informer/shared_informer_factory.h"
#include "testing/embedded_server.h"
#include "tests/status_testing.h"
#include "tests/volume_binder_testing.h"

// Helpers for tests that bind volumes on the embedded API server. The tests
// play the volume controller.

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

inline constexpr char kFourClaims[] = R"(
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
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: made}
provisioner: disks.example.com
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: c, namespace: default}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
  storageClassName: made
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: d, namespace: default, annotations: {example.com/team: db}}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 2Gi}}
  storageClassName: made
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
    informers_.Of<CSIDriver>();
    informers_.Of<CSIStorageCapacity>();
    informers_.Start(stop_.get_token());
    informers_.WaitForCacheSync({});
    pod_ = *client_.Get<Pod>("default", "p");
    ChooseFor({"a", "b"});
  }
  ~BindPodVolumesTest() override {
    stop_.request_stop();
    if (result_.valid()) result_.wait();
  }

  // Chooses volumes for the claims, and assumes them. There are volumes for a
  // and b, but volumes for c and d have to be made.
  void ChooseFor(const std::vector<std::string>& names) {
    binder_.RevertAssumedPodVolumes(volumes_);
    std::vector<ClaimPtr> claims;
    for (const std::string& name : names) {
      claims.push_back(client_.Get<PersistentVolumeClaim>("default", name));
    }
    auto found = VolumeBinder::FindPodVolumes(
        binder_.GetPodVolumeClaims(claims), *client_.Get<Node>("", "node-1"));
    volumes_ = std::move(found.value());
    Assume(volumes_);
  }
  void Assume(PodVolumes& volumes) {
    EXPECT_TRUE(binder_.AssumePodVolumes("node-1", volumes));
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
    executor_.PostAfter(std::chrono::seconds(0), [&] { checked.set_value(); });
    checked.get_future().wait();
    return result_.wait_for(std::chrono::seconds(0)) ==
           std::future_status::ready;
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
    for (const auto& [claim, capacity] : volumes_.dynamic_provisions) {
      AwaitStore<PersistentVolumeClaim>(claim->metadata.name,
                                        claim->metadata.resource_version);
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

  EmbeddedServer server_{kFourClaims};
  Client client_{server_.config()};
  std::stop_source stop_;
  FakeClock clock_;
  Executor executor_{1, clock_};
  Snapshot snapshot_;
  SharedInformerFactory informers_{client_};
  VolumeBinder binder_{NewHandle(
      snapshot_,
      {.informers = informers_, .client = client_, .executor = executor_})};
  const std::string node_name_ = "node-1";  // lives as long as the task
  Pod pod_;
  PodVolumes volumes_;
  std::future<Status> result_;

 private:
  template <class T>
  void AwaitStore(const std::string& name, const std::string& version) {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < deadline) {
      const auto stored = informers_.Of<T>().store().Get(
          T::kResource.namespaced ? "default" : "", name);
      if ((stored ? stored->metadata.resource_version : "") == version) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    throw std::runtime_error(name + " has not changed within 20 s");
  }
};

}  // namespace minisched
