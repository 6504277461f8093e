// Compares the pods' places by the trace with the queue itself, after each of
// many random operations.

#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "minisched/base/fake_clock.h"
#include "queue/scheduling_queue.h"

namespace minisched {

// Reads the private parts of a queue.
class SchedulingQueuePeer {
 public:
  struct QueuedPod {
    std::string uid;
    Place place;
    int attempts = 0;              // unknown (0) in flight
    Clock::TimePoint timestamp{};  // unknown in flight
  };

  static std::vector<QueuedPod> Pods(SchedulingQueue& queue) {
    MutexLock lock(queue.mu_);
    std::vector<QueuedPod> pods;
    for (const QueuedPodInfo& info : queue.active_) {
      pods.push_back({info.pod->metadata.uid, Place::kActive, info.attempts,
                      info.timestamp});
    }
    for (const auto& [uid, info] : queue.unschedulable_) {
      pods.push_back(
          {uid, Place::kUnschedulable, info.attempts, info.timestamp});
    }
    for (const std::string& uid : queue.in_flight_) {
      pods.push_back({uid, Place::kInFlight});
    }
    return pods;
  }

  static bool HasActivePods(SchedulingQueue& queue) {
    MutexLock lock(queue.mu_);
    return !queue.active_.empty();
  }
};

namespace {

constexpr int kOperations = 100'000;
constexpr int kNames = 12;
constexpr int kUids = 30;  // so a pod has one or two namesakes

// Returns the seed of --gtest_random_seed, or a random one.
unsigned Seed() {
  const int flag = GTEST_FLAG_GET(random_seed);
  return flag != 0 ? flag : std::random_device{}() % 99'999 + 1;
}

// The last record of each pod, and how many pods are in the queue.
class PlacesByTrace {
 public:
  explicit PlacesByTrace(Trace& trace) : reader_(trace) {
    no_wait_.request_stop();
  }

  // Adds the new records.
  void Fold() {
    for (const RecordPtr& record : reader_.Next(no_wait_.get_token())) {
      const auto* pod = std::get_if<PodRecord>(&record->state);
      if (pod == nullptr) continue;
      PodRecord& last = last_[pod->uid];
      queued_ += static_cast<int>(IsQueued(*pod));
      queued_ -= static_cast<int>(IsQueued(last));
      last = *pod;
    }
  }

  int queued() const { return queued_; }
  const PodRecord& Of(const std::string& uid) { return last_[uid]; }

 private:
  static bool IsQueued(const PodRecord& pod) {
    return pod.place == Place::kActive || pod.place == Place::kUnschedulable ||
           pod.place == Place::kInFlight;
  }

  std::stop_source no_wait_;
  TraceReader reader_;
  std::unordered_map<std::string, PodRecord> last_;
  int queued_ = 0;
};

class SchedulingQueuePlacesTest : public ::testing::Test {
 protected:
  // Does a random operation and returns its name.
  std::string Operate() {
    static constexpr std::pair<int,
                               std::string (SchedulingQueuePlacesTest::*)()>
        kWeights[] = {{15, &SchedulingQueuePlacesTest::Add},
                      {10, &SchedulingQueuePlacesTest::Update},
                      {10, &SchedulingQueuePlacesTest::Delete},
                      {5, &SchedulingQueuePlacesTest::ChangeStore},
                      {25, &SchedulingQueuePlacesTest::Pop},
                      {8, &SchedulingQueuePlacesTest::Bind},
                      {2, &SchedulingQueuePlacesTest::Skip},
                      {15, &SchedulingQueuePlacesTest::Fail},
                      {8, &SchedulingQueuePlacesTest::Flush}};
    int choice = Random(100);
    for (const auto& [weight, operation] : kWeights) {
      choice -= weight;
      if (choice < 0) return (this->*operation)();
    }
    return "none";
  }

  // Compares each pod's place by the trace with the queue.
  void Check() {
    places_.Fold();
    const auto pods = SchedulingQueuePeer::Pods(queue_);
    EXPECT_EQ(places_.queued(), pods.size());
    for (const auto& pod : pods) {
      const PodRecord& record = places_.Of(pod.uid);
      EXPECT_EQ(PlaceName(record.place), PlaceName(pod.place)) << pod.uid;
      if (pod.place == Place::kInFlight) continue;
      EXPECT_EQ(record.move.attempts, pod.attempts) << pod.uid;
      if (pod.place == Place::kActive) {
        EXPECT_FALSE(record.move.until) << pod.uid;
      } else {
        EXPECT_EQ(record.move.until, pod.timestamp + std::chrono::seconds(1));
      }
    }
  }

 private:
  int Random(int bound) { return static_cast<int>(random_() % bound); }

  // Returns a new state of a random pod.
  std::shared_ptr<Pod> RandomPod() {
    const int number = Random(kUids);
    auto pod = std::make_shared<Pod>();
    pod->metadata.namespace_name = "shop";
    pod->metadata.name = "pod-" + std::to_string(number % kNames);
    pod->metadata.uid = std::to_string(number);
    return pod;
  }

  PodPtr Stored(const std::string& name) const {
    const auto pod = store_.find(name);
    return pod == store_.end() ? nullptr : pod->second;
  }

  std::string Add() {
    const PodPtr pod = RandomPod();
    store_[pod->metadata.name] = pod;
    queue_.Add(pod);
    return "Add " + pod->metadata.uid;
  }

  std::string Update() {
    const PodPtr pod = RandomPod();
    store_[pod->metadata.name] = pod;
    queue_.Update(RandomPod(), pod);
    return "Update " + pod->metadata.uid;
  }

  std::string Delete() {
    const PodPtr pod = RandomPod();
    const PodPtr stored = Stored(pod->metadata.name);
    if (stored && stored->metadata.uid == pod->metadata.uid) {
      store_.erase(pod->metadata.name);
    }
    queue_.Delete(*pod);
    return "Delete " + pod->metadata.uid;
  }

  // Deletes, binds or replaces a pod; the queue's event is yet to come.
  std::string ChangeStore() {
    const auto pod = RandomPod();
    if (Random(2) == 0) pod->spec.node_name = "node-1";
    store_[pod->metadata.name] = pod;
    if (Random(3) == 0) store_.erase(pod->metadata.name);
    return "change store " + pod->metadata.uid;
  }

  std::string Pop() {
    if (!SchedulingQueuePeer::HasActivePods(queue_)) return "no Pop";
    tries_.push_back(*queue_.Pop());
    return "Pop";
  }

  // Removes a random try from those that have not ended.
  std::optional<QueuedPodInfo> EndTry() {
    if (tries_.empty()) return std::nullopt;
    std::swap(tries_[Random(static_cast<int>(tries_.size()))], tries_.back());
    QueuedPodInfo info = tries_.back();
    tries_.pop_back();
    return info;
  }

  // Ends an attempt as ScheduleOne does.
  std::string EndWith(Place place) {
    const auto info = EndTry();
    if (!info) return "no attempt";
    trace_.Moved(*info->pod, place, {.attempts = info->attempts});
    queue_.Done(info->pod->metadata.uid);
    return "Done " + info->pod->metadata.uid;
  }
  std::string Bind() { return EndWith(Place::kBound); }
  std::string Skip() { return EndWith(Place::kGone); }

  std::string Fail() {
    const auto info = EndTry();
    if (!info) return "no attempt";
    queue_.AddUnschedulableIfNotPresent(*info);
    return "fail " + info->pod->metadata.uid;
  }

  std::string Flush() {
    clock_.Advance(std::chrono::milliseconds(Random(700)));
    queue_.FlushUnschedulablePods();
    return "Flush";
  }

 protected:
  const unsigned seed_ = Seed();

 private:
  std::mt19937 random_{seed_};
  FakeClock clock_;
  Trace trace_{"minisched", clock_};
  PlacesByTrace places_{trace_};
  std::map<std::string, PodPtr> store_;  // by name
  std::vector<QueuedPodInfo> tries_;     // that have not ended
  SchedulingQueue queue_{clock_, trace_, [this](const ObjectMeta& pod) {
                           return Stored(pod.name);
                         }};
};

TEST_F(SchedulingQueuePlacesTest, ThePlacesByTheTraceAreThoseOfTheQueue) {
  std::cout << "--gtest_random_seed=" << seed_ << "\n";
  for (int i = 1; i <= kOperations; ++i) {
    const std::string operation = Operate();
    Check();
    ASSERT_FALSE(HasFailure()) << "after operation " << i << ": " << operation
                               << "; --gtest_random_seed=" << seed_;
  }
}

}  // namespace
}  // namespace minisched
