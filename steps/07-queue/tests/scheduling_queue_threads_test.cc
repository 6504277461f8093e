// Uses the queue from several threads. ThreadSanitizer checks the accesses.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "minisched/base/fake_clock.h"
#include "minisched/informer/store.h"
#include "tests/scheduling_queue_peer_testing.h"

namespace minisched {
namespace {

constexpr int kReporters = 2;
constexpr int kPodsPerReporter = 20;
constexpr int kChangesPerReporter = 10'000;
constexpr int kPoppers = 3;
// Far longer than the threads need.
constexpr std::chrono::seconds kThreadsPatience{20};

class SchedulingQueueThreadsTest : public ::testing::Test {
 protected:
  // Runs all threads until the reporters have made their changes, and then
  // `finish`. Closes the queue at the end.
  void RunThreads(const std::function<void()>& finish = [] {}) {
    std::vector<std::jthread> poppers;
    for (int i = 0; i < kPoppers; ++i) {
      poppers.emplace_back([this, i] { Schedule(i); });
    }
    {
      const std::jthread mover(
          [this](const std::stop_token& stop) { MovePods(stop); });
      const std::jthread flusher(
          [this](const std::stop_token& stop) { Flush(stop); });
      {
        std::vector<std::jthread> reporters;
        for (int i = 0; i < kReporters; ++i) {
          reporters.emplace_back([this, i] { ReportChanges(i); });
        }
      }
      finish();
    }
    queue_.Close();
  }

  // Blocks until the poppers, which bind each pod from now on, have bound all
  // pods. Returns false if that takes too long.
  bool BindAll() {
    binds_all_ = true;
    const auto deadline = RealClock().Now() + kThreadsPatience;
    MutexLock lock(mu_);
    while (HasUnboundPods() && RealClock().Now() < deadline) {
      bound_some_.WaitUntil(mu_, {}, deadline);
    }
    return !HasUnboundPods();
  }

  bool IsBound(const Pod& pod) {
    MutexLock lock(mu_);
    return bound_.contains(pod.metadata.uid);
  }

  // Compares the queue with the store and the trace, without other threads.
  void ExpectPodsAreInOnePlace() {
    const auto pods = SchedulingQueuePeer::Read(queue_);
    EXPECT_TRUE(pods.in_flight.empty());
    std::set<std::string> queued;
    LastRecords records(trace_);
    records.Poll();
    const auto check = [&](const std::vector<QueuedPodInfo>& infos,
                           Place place) {
      for (const QueuedPodInfo& info : infos) {
        const Pod& pod = *info.pod;
        EXPECT_TRUE(queued.insert(pod.metadata.uid).second);
        EXPECT_EQ(store_.Get("shop", pod.metadata.name), info.pod);
        EXPECT_EQ(PlaceName(records.Of(pod.metadata.uid).place),
                  PlaceName(place));
      }
    };
    check(pods.active, Place::kActive);
    check(pods.backoff, Place::kBackoff);
    check(pods.unschedulable, Place::kUnschedulable);
    for (const PodPtr& pod : store_.List()) {
      const bool pending = pod->spec.node_name.empty() && !IsBound(*pod);
      EXPECT_LE(pending, queued.contains(pod->metadata.uid))
          << "pod " << pod->metadata.uid << " is lost";
    }
  }

 private:
  // An informer with pods of its own: the pods with these numbers.
  void ReportChanges(int reporter) {
    std::mt19937 random(reporter);
    for (int i = 0; i < kChangesPerReporter; ++i) {
      const int number = static_cast<int>(random() % kPodsPerReporter);
      ChangePod("pod-" + std::to_string(reporter * kPodsPerReporter + number),
                static_cast<int>(random() % 10), i);
    }
  }

  // Changes the store and reports the change to the queue.
  void ChangePod(const std::string& name, int choice, int version) {
    const PodPtr old = store_.Get("shop", name);
    auto pod = old ? std::make_shared<Pod>(*old) : std::make_shared<Pod>();
    pod->metadata.resource_version = std::to_string(version);
    if (!old) {
      pod->metadata.namespace_name = "shop";
      pod->metadata.name = name;
      pod->metadata.uid = name + "-" + std::to_string(version);
      pod->spec.priority = choice % 3;
      store_.Set(pod);
      queue_.Add(pod);
    } else if (choice < 2 || !old->spec.node_name.empty()) {
      store_.Delete("shop", name);
      queue_.Delete(*old);
    } else if (IsBound(*old)) {
      pod->spec.node_name = "node-1";
      store_.Set(pod);
      queue_.Delete(*old);
    } else {
      std::string& value =
          choice < 6 ? pod->status.message : pod->metadata.labels["version"];
      value = std::to_string(version);
      store_.Set(pod);
      queue_.Update(old, pod);
    }
  }

  // A scheduler: rejects pods, fails or binds them.
  void Schedule(int popper) {
    std::mt19937 random(100 + popper);
    while (auto info = queue_.Pop()) {
      const Pod& pod = *info->pod;
      SetInFlight(pod, true);
      const int choice = static_cast<int>(random() % 10);
      std::this_thread::yield();  // so that changes come during the attempt
      if (binds_all_ || choice == 0 || IsBound(pod)) {
        trace_.Moved(pod, Place::kBound);
        AddBound(pod);
        SetInFlight(pod, false);
        queue_.Done(pod.metadata.uid);
        continue;
      }
      info->unschedulable_plugins.clear();
      if (choice < 8) info->unschedulable_plugins.insert("NodeResourcesFit");
      SetInFlight(pod, false);
      queue_.AddUnschedulableIfNotPresent(*std::move(info));
    }
  }

  void MovePods(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      queue_.MoveAllToActiveOrBackoffQueue(NodeAdded());
      std::this_thread::yield();
    }
  }

  void Flush(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      clock_.Advance(std::chrono::seconds(1));
      queue_.FlushBackoffQCompleted();
      queue_.FlushUnschedulablePodsLeftover();
      std::this_thread::yield();
    }
  }

  // Two attempts of one pod must not overlap.
  void SetInFlight(const Pod& pod, bool in_flight) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    if (in_flight) {
      EXPECT_TRUE(in_flight_.insert(pod.metadata.uid).second);
    } else {
      in_flight_.erase(pod.metadata.uid);
    }
  }

  void AddBound(const Pod& pod) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    bound_.insert(pod.metadata.uid);
    bound_some_.NotifyAll();
  }

  bool HasUnboundPods() REQUIRES(mu_) {
    for (const PodPtr& pod : store_.List()) {
      if (!bound_.contains(pod->metadata.uid)) return true;
    }
    return false;
  }

  FakeClock clock_;
  Store<Pod> store_;
  Trace trace_{"minisched", clock_};
  const Framework framework_ = FrameworkWithFakeFilter();
  SchedulingQueue queue_{clock_, trace_, framework_,
                         [this](const ObjectMeta& pod) {
                           return store_.Get(pod.namespace_name, pod.name);
                         }};
  std::atomic<bool> binds_all_ = false;
  Mutex mu_;
  CondVar bound_some_;
  std::set<std::string> in_flight_ GUARDED_BY(mu_);  // uids
  std::set<std::string> bound_ GUARDED_BY(mu_);      // uids
};

TEST_F(SchedulingQueueThreadsTest, PodsAreInOnePlaceEach) {
  RunThreads();
  ExpectPodsAreInOnePlace();
}

TEST_F(SchedulingQueueThreadsTest, EachPodIsBound) {
  RunThreads([this] { EXPECT_TRUE(BindAll()); });
  ExpectPodsAreInOnePlace();
}

}  // namespace
}  // namespace minisched
