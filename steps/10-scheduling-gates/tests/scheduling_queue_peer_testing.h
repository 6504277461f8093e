#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "queue/scheduling_queue.h"
#include "tests/queue_framework_testing.h"

// Helpers for tests of the queue.

namespace minisched {

// Reads the private parts of a queue.
class SchedulingQueuePeer {
 public:
  // The pods by their place.
  struct Pods {
    std::vector<QueuedPodInfo> active;   // in their order
    std::vector<QueuedPodInfo> backoff;  // in their order
    std::vector<QueuedPodInfo> unschedulable;
    std::vector<QueuedPodInfo> gated;
    std::vector<std::string> in_flight;  // uids
  };

  static Pods Read(SchedulingQueue& queue) {
    MutexLock lock(queue.mu_);
    Pods pods;
    pods.active = Read(queue.active_);
    pods.backoff = Read(queue.backoff_);
    for (const auto& [uid, info] : queue.unschedulable_) {
      const bool gated = !info.gating_plugin.empty();
      (gated ? pods.gated : pods.unschedulable).push_back(info);
    }
    for (const auto& [uid, entry] : queue.in_flight_.pods_) {
      pods.in_flight.push_back(uid);
    }
    return pods;
  }

  static bool HasActivePods(SchedulingQueue& queue) {
    MutexLock lock(queue.mu_);
    return !queue.active_.empty();
  }

  // Returns how many changes the queue keeps for the pods in flight.
  static std::size_t CountChanges(SchedulingQueue& queue) {
    MutexLock lock(queue.mu_);
    return queue.in_flight_.entries_.size() - queue.in_flight_.pods_.size();
  }

 private:
  // Empties the heap and fills it again, because it can't be iterated.
  static std::vector<QueuedPodInfo> Read(Heap& heap) {
    std::vector<QueuedPodInfo> pods;
    while (!heap.empty()) pods.push_back(heap.Pop());
    for (const QueuedPodInfo& info : pods) heap.Add(info);
    return pods;
  }
};

inline void ExpectSameInfo(const QueuedPodInfo& info,
                           const QueuedPodInfo& expected) {
  EXPECT_EQ(info.pod, expected.pod);
  EXPECT_EQ(info.timestamp, expected.timestamp);
  EXPECT_EQ(info.attempts, expected.attempts);
  EXPECT_EQ(info.unschedulable_count, expected.unschedulable_count);
  EXPECT_EQ(info.consecutive_errors_count, expected.consecutive_errors_count);
  EXPECT_EQ(info.unschedulable_plugins, expected.unschedulable_plugins);
  EXPECT_EQ(info.gating_plugin, expected.gating_plugin);
}

// The last record of each pod in a trace.
class LastRecords {
 public:
  explicit LastRecords(Trace& trace) : reader_(trace) {}

  // Reads the new records.
  void Poll() {
    for (const RecordPtr& record : reader_.Poll()) {
      const auto* pod = std::get_if<PodRecord>(&record->state);
      if (pod != nullptr) last_[pod->uid] = *pod;
    }
  }

  // Returns a record with the place "gone" if the trace has no record.
  const PodRecord& Of(const std::string& uid) { return last_[uid]; }

 private:
  TraceReader reader_;
  std::unordered_map<std::string, PodRecord> last_;
};

}  // namespace minisched
