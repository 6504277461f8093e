#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "plugins/priority_sort.h"
#include "queue/scheduling_queue.h"

// Helpers for tests of the queue.

namespace minisched {

inline Framework FrameworkWithPrioritySort() {
  Framework framework;
  framework.Add(std::make_unique<PrioritySort>());
  return framework;
}

// A filter plugin that does nothing but register events. Tests pass its name to
// the queue, as if it had rejected a pod.
class FakeFilter final : public FilterPlugin {
 public:
  // `name` must outlive the plugin.
  FakeFilter(std::string_view name, std::vector<ClusterEventWithHint> events)
      : name_(name), events_(std::move(events)) {}

  std::string_view Name() const override { return name_; }
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    return events_;
  }
  Status Filter(const CycleState& /*state*/, const Pod& /*pod*/,
                const NodeInfo& /*node*/) const override {
    return {};
  }

 private:
  const std::string_view name_;
  const std::vector<ClusterEventWithHint> events_;
};

// Returns a framework with a NodeResourcesFit that registers new nodes, and
// labels and tolerations of pods. It has no hints.
inline Framework FrameworkWithFakeFilter() {
  Framework framework = FrameworkWithPrioritySort();
  framework.Add(std::make_unique<FakeFilter>(
      "NodeResourcesFit",
      std::vector<ClusterEventWithHint>{
          {{EventResource::kNode, action::kAdd}},
          {{EventResource::kPod,
            action::kUpdatePodLabel | action::kUpdatePodToleration}}}));
  return framework;
}

inline ClusterChange NodeAdded() {
  return {{EventResource::kNode, action::kAdd}};
}

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
