// Runs a whole scheduler with random operations, and checks after each of them
// that no pod is lost. The test calls ScheduleOne() itself, so that the same
// seed gives the same operations.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "minisched/base/fake_clock.h"
#include "testing/log_capture.h"
#include "tests/no_lost_pod_testing.h"
#include "tests/permit_testing.h"
#include "tests/random_server_testing.h"
#include "tests/waiting_pods_testing.h"

namespace minisched {
namespace {

constexpr int kLostPodOperations = 200;
constexpr int kLostPodRuns = 4;

// Returns the seed of --gtest_random_seed, or a random one.
unsigned LostPodSeed() {
  const int flag = GTEST_FLAG_GET(random_seed);
  return flag != 0 ? flag : std::random_device{}() % 99'990 + 1;
}

class LostPodRun {
 public:
  explicit LostPodRun(unsigned seed) : fate_(seed), server_(fate_, seed) {
    for (const std::string_view name : {"Chance 1", "Chance 2"}) {
      SchedulerPeer::Add(
          *scheduler_,
          std::make_unique<Chance>(name, fate_, [this] { Interfere(); }));
    }
    SchedulerPeer::StartInformers(*scheduler_);
  }

  ~LostPodRun() {
    fate_.DropHeld();  // otherwise the scheduler waits for them
    scheduler_.reset();
  }

  // Runs a random operation and returns its name.
  std::string_view Operate() {
    static constexpr RandomOperation<LostPodRun> kOperations[] = {
        {32, "Schedule", &LostPodRun::Schedule},
        {10, "EndWait", &LostPodRun::EndWait},
        {8, "EndPreBind", &LostPodRun::EndPreBind},
        {10, "Advance", &LostPodRun::Advance},
        {40, "Change", nullptr}};
    // No two pods enter the queue at the same time, so their order is certain.
    clock_.Advance(std::chrono::nanoseconds(1));
    const auto& [percent, name, run] = fate_.Choose(kOperations);
    if (run == nullptr) return server_.Change();
    (this->*run)();
    return name;
  }

  // Blocks until the scheduler is idle, and returns its faults. Retries for up
  // to five seconds while it finds faults: a PATCH of a condition may be under
  // way.
  std::string Faults() {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (true) {
      Settle();
      auto faults = FindFaults(*scheduler_, server_.objects(), records_, fate_);
      if (faults.empty() || std::chrono::steady_clock::now() > deadline) {
        return faults;
      }
    }
  }

  // Removes all obstacles and schedules until all pods are bound. Returns the
  // names of the pods that are left.
  std::string BindAll() {
    fate_.BeKind();
    server_.RemoveObstacles();
    while (!fate_.HeldPods().empty()) fate_.TakeHeld().done({});
    WaitingPods& pods = WaitingPodsNow();
    pods.IterateOverWaitingPods([&](const WaitingPod& waiting) {
      const std::string& uid = waiting.pod->metadata.uid;
      for (const auto& plugin : WaitingPodsPeer::PendingPlugins(pods, uid)) {
        pods.Allow(uid, plugin);
      }
    });
    Settle();
    for (int round = 0; round < 10 && !PendingPods().empty(); ++round) {
      clock_.Advance(std::chrono::seconds(10));  // the longest backoff
      Queue().FlushBackoffQCompleted();
      while (SchedulingQueuePeer::HasActivePods(Queue())) Schedule();
      Settle();
    }
    return PendingPods();
  }

 private:
  SchedulingQueue& Queue() { return SchedulerPeer::Queue(*scheduler_); }
  WaitingPods& WaitingPodsNow() {
    return SchedulerPeer::GetWaitingPods(*scheduler_);
  }

  // Returns the names of the pods that should be bound in the end.
  std::string PendingPods() const {
    std::string names;
    for (const auto& [name, pod] : server_.objects().pods) {
      const bool bound = !pod->spec.node_name.empty();
      if (!bound && name != RandomServer::kMarker) names += name + " ";
    }
    return names;
  }

  void Schedule() {
    if (SchedulingQueuePeer::HasActivePods(Queue())) {
      SchedulerPeer::ScheduleOne(*scheduler_);
    }
  }

  void EndWait() {
    WaitingPods& pods = WaitingPodsNow();
    std::map<std::string, std::string> uids;  // by name
    pods.IterateOverWaitingPods([&](const WaitingPod& waiting) {
      uids[waiting.pod->metadata.name] = waiting.pod->metadata.uid;
    });
    if (uids.empty()) return;
    const int index = fate_.Below(static_cast<int>(uids.size()));
    const std::string& uid = std::next(uids.begin(), index)->second;
    const int choice = fate_.Below(10);
    if (choice == 0) {
      pods.Reject(uid, "Chance 2", "no quota");
    } else if (choice == 1) {
      Preempt(pods, uid, "Chance 2", "preempted");
    } else {
      pods.Allow(uid, WaitingPodsPeer::PendingPlugins(pods, uid).front());
    }
  }

  void EndPreBind() {
    if (fate_.HeldPods().empty()) return;
    const HeldPreBind pod = fate_.TakeHeld();
    pod.done(fate_.Below(4) > 0 ? Status() : Status(Code::kError, "disk full"));
  }

  void Advance() {
    clock_.Advance(std::chrono::milliseconds(fate_.Below(3000)));
    Queue().FlushBackoffQCompleted();
    if (fate_.Below(10) == 0) Queue().FlushUnschedulablePodsLeftover();
  }

  // In some calls, changes the server while a pod is assumed and does not wait
  // yet.
  void Interfere() {
    if (fate_.is_kind() || fate_.Below(10) > 0) return;
    server_.Refresh();
    server_.Change();
    AwaitHandlers();
  }

  // Blocks until the event handlers have received all changes so far.
  void AwaitHandlers() {
    const std::string pod_version = server_.ChangeMarkerPod();
    const std::string node_version = server_.ChangeMarkerNode();
    AwaitThat([&] {
      const auto gated = SchedulingQueuePeer::Read(Queue()).gated;
      return std::any_of(gated.begin(), gated.end(), [&](const auto& info) {
        return info.pod->metadata.resource_version == pod_version;
      });
    });
    AwaitThat([&] {
      SchedulerPeer::UpdateSnapshot(*scheduler_, snapshot_);
      const auto* marker = snapshot_.Get(std::string(RandomServer::kMarker));
      return marker->node().metadata.resource_version == node_version;
    });
  }

  // Blocks until each binding cycle has ended, waits or is held.
  void AwaitCycles() {
    RunTasks(SchedulerPeer::GetExecutor(*scheduler_));
    AwaitThat([&] {
      std::size_t parked = fate_.HeldPods().size();
      WaitingPodsNow().IterateOverWaitingPods(
          [&](const WaitingPod&) { ++parked; });
      return fate_.cycles() == parked;
    });
  }

  // Blocks until the scheduler is idle.
  void Settle() {
    AwaitCycles();
    AwaitHandlers();
    AwaitCycles();  // of the pods that the handlers have rejected
    server_.Refresh();
  }

  // Throws std::runtime_error after 20 s.
  template <class Done>
  static void AwaitThat(const Done& done) {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done()) {
      if (std::chrono::steady_clock::now() > deadline) {
        throw std::runtime_error("the scheduler is not idle after 20 s");
      }
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }

  const LogCapture log_;
  Fate fate_;
  RandomServer server_;
  FakeClock clock_;
  Trace trace_{"minisched", clock_};
  LastRecords records_{trace_};
  std::unique_ptr<Scheduler> scheduler_ = std::make_unique<Scheduler>(
      AppContext{server_.client(), "minisched", trace_, {}},
      SchedulerOptions{.seed = 1}, clock_);
  Snapshot snapshot_;
};

TEST(NoLostPodTest, EachPendingPodIsInOnePlaceAndBoundInTheEnd) {
  const unsigned seed = LostPodSeed();
  std::cout << "--gtest_random_seed=" << seed << '\n';
  for (int i = 0; i < kLostPodRuns; ++i) {
    LostPodRun run(seed + i);
    std::string operations;
    for (int done = 1; done <= kLostPodOperations; ++done) {
      operations.append(" ").append(run.Operate());
      ASSERT_EQ(run.Faults(), "")
          << "--gtest_random_seed=" << seed << ", run " << i << ", after "
          << done << " operations:" << operations;
    }
    ASSERT_EQ(run.BindAll(), "")
        << "--gtest_random_seed=" << seed << ", run " << i << ", at the end";
    ASSERT_EQ(run.Faults(), "");
  }
}

}  // namespace
}  // namespace minisched
