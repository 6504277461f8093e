// Compares the queue and the trace with a simple model after many random
// operations.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "minisched/base/fake_clock.h"
#include "tests/scheduling_queue_model_plugins_testing.h"
#include "tests/scheduling_queue_model_testing.h"
#include "tests/scheduling_queue_peer_testing.h"

namespace minisched {
namespace {

constexpr int kModelRuns = 4;
constexpr int kOperationsPerModelRun = 50'000;
constexpr int kOperationsPerComparison = 50;
constexpr int kModelNames = 12;
constexpr int kModelUids = 2 * kModelNames;  // so each pod has a namesake

// Returns the seed of --gtest_random_seed, or a random one.
unsigned Seed() {
  const int flag = GTEST_FLAG_GET(random_seed);
  return flag != 0 ? flag : std::random_device{}() % 99'990 + 1;
}

bool HasNode(const Pod& pod) { return !pod.spec.node_name.empty(); }

// A queue, its model, and the informer and the scheduler that use both. The
// informer changes its store first and reports each change later, in order.
class RandomRun {
 public:
  explicit RandomRun(unsigned seed) : random_(seed) {}

  // Runs a random operation and returns its name.
  std::string_view Operate() {
    struct Operation {
      int percent;
      std::string_view name;
      void (RandomRun::*run)();
    };
    static constexpr Operation kOperations[] = {
        {20, "ChangeStore", &RandomRun::ChangeStore},
        {24, "ReportChange", &RandomRun::ReportChange},
        {15, "Pop", &RandomRun::Pop},
        {12, "Fail", &RandomRun::Fail},
        {3, "Bind", &RandomRun::Bind},
        {2, "Assume", &RandomRun::Assume},
        {2, "FailAfterDone", &RandomRun::FailAfterDone},
        {7, "MoveAll", &RandomRun::MoveAll},
        {1, "ChangeQuota", &RandomRun::ChangeQuota},
        {5, "FlushBackoffQ", &RandomRun::FlushBackoffQ},
        {3, "FlushUnschedulable", &RandomRun::FlushUnschedulable},
        {6, "Wait", &RandomRun::Wait}};
    int roll = Below(100);
    for (const Operation& operation : kOperations) {
      roll -= operation.percent;
      if (roll >= 0) continue;
      (this->*operation.run)();
      return operation.name;
    }
    return "none";
  }

  // Compares the queue and the trace with the model.
  void Compare() {
    const SchedulingQueuePeer::Pods pods = SchedulingQueuePeer::Read(queue_);
    std::vector<std::string> places(kModelUids);
    const auto expect = [&](const std::vector<QueuedPodInfo>& infos,
                            Place place) {
      for (const QueuedPodInfo& info : infos) {
        SCOPED_TRACE("pod " + info.pod->metadata.uid);
        const int number = QueueModel::Number(*info.pod);
        places[number] += PlaceName(place);
        ExpectSameInfo(info, model_.pod(number).info);
      }
    };
    expect(pods.active, Place::kActive);
    expect(pods.backoff, Place::kBackoff);
    expect(pods.unschedulable, Place::kUnschedulable);
    expect(pods.gated, Place::kGated);
    for (const std::string& uid : pods.in_flight) {
      places[std::stoi(uid)] += PlaceName(Place::kInFlight);
    }
    std::vector<int> active;
    for (const QueuedPodInfo& info : pods.active) {
      active.push_back(QueueModel::Number(*info.pod));
    }
    EXPECT_EQ(active, model_.active());
    records_.Poll();
    for (int i = 0; i < kModelUids; ++i) ComparePod(i, places[i]);
    ExpectNoPodIsLost();
  }

 private:
  struct Event {
    PodPtr old;                        // null: the pod was added
    PodPtr now;                        // null: the pod was deleted
    std::vector<ClusterEvent> events;  // of an update
  };

  // `place` is the pod's place in the queue; two places give two words.
  void ComparePod(int number, const std::string& place) {
    SCOPED_TRACE("pod " + std::to_string(number));
    const ModelPod& pod = model_.pod(number);
    const PodRecord& record = records_.Of(std::to_string(number));
    EXPECT_EQ(PlaceName(record.place), PlaceName(pod.place));
    const bool queued = model_.IsQueued(number);
    if (!queued && pod.place != Place::kInFlight) {
      EXPECT_EQ(place, "");
      return;
    }
    EXPECT_EQ(place, PlaceName(pod.place));
    EXPECT_EQ(record.move.attempts, pod.info.attempts);
    if (!queued) return;
    EXPECT_EQ(record.move.event, pod.event);
    EXPECT_EQ(
        record.move.until.has_value(),
        pod.place == Place::kBackoff || pod.place == Place::kUnschedulable);
    if (record.move.until) {
      EXPECT_EQ(*record.move.until, model_.Until(number));
    }
    if (pod.place == Place::kUnschedulable || pod.place == Place::kGated) {
      EXPECT_EQ(std::set<std::string>(record.move.wakes.begin(),
                                      record.move.wakes.end()),
                model_.Wakes(number));
    }
    if (pod.place != Place::kActive) {
      EXPECT_EQ(std::set<std::string_view>(record.move.plugins.begin(),
                                           record.move.plugins.end()),
                pod.info.unschedulable_plugins);
    }
  }

  // The scheduler has each pending pod whose changes were all reported.
  void ExpectNoPodIsLost() const {
    for (const PodPtr& pod : store_) {
      if (!pod || HasNode(*pod) || HasEvents(*pod)) continue;
      const Place place = model_.pod(QueueModel::Number(*pod)).place;
      EXPECT_NE(PlaceName(place), PlaceName(Place::kGone))
          << "pod " << pod->metadata.uid;
    }
  }

  int Below(int end) { return static_cast<int>(random_() % end); }

  bool HasEvents(const Pod& pod) const {
    return std::any_of(events_.begin(), events_.end(), [&](const Event& event) {
      const Pod& changed = event.now ? *event.now : *event.old;
      return changed.metadata.uid == pod.metadata.uid;
    });
  }

  // Returns the pod with the name of `pod`, or null.
  PodPtr& Stored(const Pod& pod) {
    return store_[QueueModel::Number(pod) % kModelNames];
  }

  // Returns the state of a pod that the scheduler still has to bind, or null.
  PodPtr Pending(const Pod& pod) {
    const PodPtr& stored = Stored(pod);
    const bool pending =
        stored && stored->metadata.uid == pod.metadata.uid && !HasNode(*stored);
    return pending ? stored : nullptr;
  }

  void SetStored(PodPtr& stored, const PodPtr& now,
                 std::vector<ClusterEvent> events = {}) {
    events_.push_back({stored, now, std::move(events)});
    stored = now;
  }

  void ChangeStore() {
    const int name = Below(kModelNames);
    PodPtr& stored = store_[name];
    const int choice = Below(100);
    if (!stored) {
      AddToStore(name);
    } else if (HasNode(*stored) || choice < 15) {
      SetStored(stored, nullptr);
      if (choice % 2 == 0) AddToStore(name);
    } else {
      UpdateStored(stored);
    }
  }

  void AddToStore(int name) {
    const int number = name + kModelNames * Below(kModelUids / kModelNames);
    auto pod = std::make_shared<Pod>();
    pod->metadata.namespace_name = "shop";
    pod->metadata.name = "pod-" + std::to_string(name);
    pod->metadata.uid = std::to_string(number);
    pod->metadata.resource_version = std::to_string(++version_);
    // A uid is used again, but only after the earlier pod has left no trace.
    const auto is_pod = [&](const QueuedPodInfo& info) {
      return info.pod->metadata.uid == pod->metadata.uid;
    };
    if (HasEvents(*pod) || std::any_of(tries_.begin(), tries_.end(), is_pod) ||
        std::any_of(assumed_.begin(), assumed_.end(), is_pod)) {
      return;
    }
    if (Below(2) == 0) pod->spec.priority = Below(3);
    if (Below(3) == 0) pod->spec.scheduling_gates.resize(1 + Below(2));
    SetStored(store_[name], pod);
  }

  void UpdateStored(PodPtr& stored) {
    const auto pod = std::make_shared<Pod>(*stored);
    pod->metadata.resource_version = std::to_string(++version_);
    const auto events = ChangeRandomly(*pod, random_);
    SetStored(stored, pod, events);
  }

  void ReportChange() {
    if (events_.empty()) return;
    const Event event = events_.front();
    events_.pop_front();
    clock_.Advance(std::chrono::nanoseconds(1));
    if (!event.now || HasNode(*event.now)) {
      queue_.Delete(*event.old);
      model_.Delete(QueueModel::Number(*event.old));
    } else if (event.old) {
      queue_.Update(event.old, event.now);
      model_.Update(event.old, event.now, event.events);
    } else {
      queue_.Add(event.now);
      model_.Add(event.now);
    }
  }

  void Pop() {
    const bool has_pods = SchedulingQueuePeer::HasActivePods(queue_);
    EXPECT_EQ(has_pods, !model_.active().empty());
    if (!has_pods || model_.active().empty()) return;
    tries_.push_back(*queue_.Pop());
    ExpectSameInfo(tries_.back(), model_.pod(model_.Pop()).info);
  }

  // Removes a random try from the list.
  std::optional<QueuedPodInfo> Take(std::vector<QueuedPodInfo>& tries) {
    if (tries.empty()) return std::nullopt;
    std::swap(tries[Below(static_cast<int>(tries.size()))], tries.back());
    QueuedPodInfo info = std::move(tries.back());
    tries.pop_back();
    return info;
  }

  void Fail(QueuedPodInfo info) {
    // No two pods enter the queue or fail at the same time, so MoveAll and the
    // flushes may move pods in any order.
    clock_.Advance(std::chrono::nanoseconds(1));
    const int choice = Below(4);
    info.unschedulable_plugins.clear();
    if (choice > 0) info.unschedulable_plugins.insert("NodePorts");
    if (choice > 1) info.unschedulable_plugins.insert("NodeResourcesFit");
    const PodPtr newest = Pending(*info.pod);
    EXPECT_EQ(queue_.AddUnschedulableIfNotPresent(info), newest);
    model_.AddUnschedulableIfNotPresent(info, newest);
  }

  void Fail() {
    if (const auto info = Take(tries_)) Fail(*info);
  }

  void EndTry(const QueuedPodInfo& info, Place place) {
    const int number = QueueModel::Number(*info.pod);
    trace_.Moved(*info.pod, place, {.attempts = info.attempts});
    queue_.Done(info.pod->metadata.uid);
    model_.Done(number, place);
  }

  void Bind() {
    if (const auto info = Take(tries_)) EndTry(*info, Place::kBound);
  }

  void Assume() {
    auto info = Take(tries_);
    if (!info) return;
    EndTry(*info, Place::kAssumed);
    assumed_.push_back(*std::move(info));
  }

  // A Binding fails. An update may have added the pod again meanwhile, and the
  // pod may have been popped again.
  void FailAfterDone() {
    if (const auto info = Take(assumed_)) Fail(*info);
  }

  void MoveAll() {
    const ClusterChange change = RandomChange(random_);
    queue_.MoveAllToActiveOrBackoffQueue(change);
    model_.MoveAllToActiveOrBackoffQueue(change);
  }

  void ChangeQuota() {
    bool& closed = closed_teams_.at(Below(closed_teams_.size()));
    closed = !closed;
  }

  void FlushBackoffQ() {
    AdvanceToEnd(Place::kBackoff);
    queue_.FlushBackoffQCompleted();
    model_.FlushBackoffQCompleted();
  }

  void FlushUnschedulable() {
    AdvanceToEnd(Place::kUnschedulable);
    queue_.FlushUnschedulablePodsLeftover();
    model_.FlushUnschedulablePodsLeftover();
  }

  void Wait() { clock_.Advance(std::chrono::milliseconds(Below(1000))); }

  // Advances the clock, in half of the calls, to the end of a pod's wait, or to
  // a nanosecond before or after the end.
  void AdvanceToEnd(Place place) {
    const int number = Below(kModelUids);
    if (Below(2) == 0 || model_.pod(number).place != place) return;
    const Clock::Duration left = model_.Until(number) - clock_.Now() +
                                 std::chrono::nanoseconds(Below(3) - 1);
    if (left > Clock::Duration::zero()) clock_.Advance(left);
  }

  std::mt19937 random_;
  FakeClock clock_;
  Trace trace_{"minisched", clock_};
  LastRecords records_{trace_};
  std::vector<PodPtr> store_ = std::vector<PodPtr>(kModelNames);  // by name
  std::deque<Event> events_;                                      // to report
  std::vector<QueuedPodInfo> tries_;    // that have not ended
  std::vector<QueuedPodInfo> assumed_;  // pods whose Binding may fail
  int version_ = 0;                     // of the last change
  ClosedTeams closed_teams_{};
  const Framework framework_ = ModelFramework(closed_teams_);
  SchedulingQueue queue_{clock_, trace_, framework_,
                         [this](const ObjectMeta& metadata) {
                           return Stored(Pod{.metadata = metadata});
                         }};
  QueueModel model_{clock_, closed_teams_, kModelUids};
};

TEST(SchedulingQueueModelTest, AgreesAfterManyOperations) {
  const unsigned seed = Seed();
  std::cout << "--gtest_random_seed=" << seed << '\n';
  for (int run = 0; run < kModelRuns; ++run) {
    RandomRun random(seed + run);
    for (int done = 0; done < kOperationsPerModelRun;) {
      std::string operations;
      for (int i = 0; i < kOperationsPerComparison; ++i) {
        operations.append(" ").append(random.Operate());
      }
      done += kOperationsPerComparison;
      random.Compare();
      ASSERT_FALSE(HasFailure())
          << "--gtest_random_seed=" << seed << ", run " << run << ", after "
          << done << " operations, the last of them:" << operations;
    }
  }
}

}  // namespace
}  // namespace minisched
