// Tests the handlers for the kinds that plugins have registered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "event_handlers.h"
#include "minisched/base/executor.h"
#include "minisched/base/fake_clock.h"
#include "minisched/base/mutex.h"
#include "minisched/client/client.h"
#include "testing/scripted_cluster.h"
#include "tests/scheduling_queue_peer_testing.h"
#include "tests/volumes_testing.h"

namespace minisched {
namespace {

class EventHandlersOfKindsTest : public ::testing::Test {
 protected:
  // Starts handlers for a framework with the plugin, and lets a pod wait that
  // the plugin has rejected.
  void Start() {
    framework_.Add(std::make_unique<FakeFilter>(
        "WaitsForClaims",
        std::vector<ClusterEventWithHint>{
            {{EventResource::kPersistentVolumeClaim, action::kAll},
             [this](const Pod& /*pod*/, const ClusterChange& change) {
               return Note(change);
             }}}));
    client_.emplace(cluster_.config(), clock_);
    informers_.emplace(*client_, clock_);
    // As for two profiles with the plugin.
    handlers_.AddHandlersOfRegisteredKinds(*informers_, framework_);
    handlers_.AddHandlersOfRegisteredKinds(*informers_, framework_);
    informers_->Start({});
    ASSERT_TRUE(informers_->WaitForCacheSync({}));
    ASSERT_TRUE(handlers_.WaitForHandlersSync({}));
    queue_.Add(std::make_shared<const Pod>(PodWithClaims("p", {"right"})));
    QueuedPodInfo info = *queue_.Pop();
    info.unschedulable_plugins = {"WaitsForClaims"};
    queue_.AddUnschedulableIfNotPresent(std::move(info));
  }

  // Sends the event, and blocks until the hint has been called for it. The
  // handlers run on a thread of their own.
  void Send(const std::string& type, const PersistentVolumeClaim& claim) {
    cluster_.Send(type, claim);
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(20);
    MutexLock lock(mu_);
    for (++sent_; seen_.size() < sent_;) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      called_.WaitUntil(mu_, {}, deadline);
    }
  }

  std::vector<std::string> seen() {
    MutexLock lock(mu_);
    return seen_;
  }

  QueueingHint Note(const ClusterChange& change) {
    const auto old = change.Old<PersistentVolumeClaim>();
    const auto now = change.New<PersistentVolumeClaim>();
    MutexLock lock(mu_);
    called_.NotifyAll();
    seen_.push_back(change.event.Label() +
                    (old ? " -" + old->metadata.name : "") +
                    (now ? " +" + now->metadata.name : ""));
    return QueueIf(now && now->metadata.name == "right");
  }

  // After this call, no handler runs any more.
  void TearDown() override { informers_->Shutdown(); }

  bool IsWaiting() {
    return !SchedulingQueuePeer::Read(queue_).unschedulable.empty();
  }

  FakeClock clock_;
  ScriptedCluster cluster_{clock_};
  Mutex mu_;
  CondVar called_;
  std::size_t sent_ GUARDED_BY(mu_) = 0;
  std::vector<std::string> seen_ GUARDED_BY(mu_);
  Framework framework_ = FrameworkWithPrioritySort();
  Trace trace_{"minisched", clock_};
  SchedulingQueue queue_{
      clock_, trace_, framework_, [](const ObjectMeta& /*pod*/) {
        return std::make_shared<const Pod>(PodWithClaims("p", {"right"}));
      }};
  Cache cache_;
  Executor executor_{1, clock_};
  WaitingPods waiting_pods_{executor_};
  PodGroups pod_groups_{clock_};
  EventHandlers handlers_{queue_, cache_, waiting_pods_, pod_groups_,
                          [](const Pod& /*pod*/) { return true; }};
  std::optional<Client> client_;
  std::optional<SharedInformerFactory> informers_;
};

TEST_F(EventHandlersOfKindsTest, AChangeOfARegisteredKindAsksTheHint) {
  Start();
  Send("ADDED", Claim("wrong"));
  Send("MODIFIED", Claim("wrong"));
  Send("DELETED", Claim("wrong"));
  EXPECT_TRUE(IsWaiting());
  Send("ADDED", Claim("right"));
  EXPECT_FALSE(IsWaiting());
  EXPECT_THAT(seen(), ::testing::ElementsAre(
                          "PersistentVolumeClaimAdd +wrong",
                          "PersistentVolumeClaimUpdate -wrong +wrong",
                          "PersistentVolumeClaimDelete -wrong",
                          "PersistentVolumeClaimAdd +right"));
}

TEST_F(EventHandlersOfKindsTest, OtherKindsAreNotWatched) {
  Start();
  // Add() throws if the kind has an informer.
  EXPECT_THROW(informers_->Add<PersistentVolumeClaim>({}), std::logic_error);
  EXPECT_NO_THROW(informers_->Add<PersistentVolume>({}));
  EXPECT_NO_THROW(informers_->Add<StorageClass>({}));
}

}  // namespace
}  // namespace minisched
