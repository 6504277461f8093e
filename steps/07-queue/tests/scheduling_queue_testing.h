#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "minisched/base/fake_clock.h"
#include "minisched/informer/store.h"
#include "queue/scheduling_queue.h"
#include "tests/scheduling_queue_peer_testing.h"

namespace minisched {

inline constexpr std::chrono::seconds kSecond{1};

// A pod whose uid is its name, unless `uid` is given.
inline PodPtr MakePod(const std::string& name, const std::string& version = "1",
                      const std::string& uid = "") {
  auto pod = std::make_shared<Pod>();
  pod->metadata.namespace_name = "shop";
  pod->metadata.name = name;
  pod->metadata.uid = uid.empty() ? name : uid;
  pod->metadata.resource_version = version;
  return pod;
}

inline PodPtr WithPriority(const std::string& name, std::int32_t priority) {
  Pod pod = *MakePod(name);
  pod.spec.priority = priority;
  return std::make_shared<const Pod>(pod);
}

// The pod's next state, with a change that may make it schedulable.
inline PodPtr Tolerating(const Pod& pod) {
  Pod changed = pod;
  changed.metadata.resource_version += "1";
  changed.spec.tolerations.push_back({.operation = "Exists"});
  return std::make_shared<const Pod>(changed);
}

// A queue with a clock that stands still, and the store of its lister.
class SchedulingQueueTest : public ::testing::Test {
 protected:
  // Adds the pod to the store first, as an informer does.
  void Add(const PodPtr& pod) {
    store_.Set(pod);
    queue_.Add(pod);
  }
  void Add(const std::string& name) { Add(MakePod(name)); }

  void Update(const PodPtr& pod) {
    const PodPtr old = store_.Get("shop", pod->metadata.name);
    store_.Set(pod);
    queue_.Update(old, pod);
  }

  void Delete(const std::string& name) {
    store_.Delete("shop", name);
    queue_.Delete(*MakePod(name));
  }

  // Pops a pod. Throws std::logic_error if the queue is closed.
  QueuedPodInfo Pop() {
    auto info = queue_.Pop();
    if (!info) throw std::logic_error("the queue is closed");
    return *info;
  }

  // Requeues a pod that a plugin has rejected.
  PodPtr Reject(QueuedPodInfo info) {
    info.unschedulable_plugins = {"NodeResourcesFit"};
    return queue_.AddUnschedulableIfNotPresent(std::move(info));
  }
  // Pops a pod and requeues it as rejected, or as stopped by an error.
  void Reject() { Reject(Pop()); }
  void Fail() {
    QueuedPodInfo info = Pop();
    info.unschedulable_plugins.clear();
    queue_.AddUnschedulableIfNotPresent(std::move(info));
  }

  void Event() { queue_.MoveAllToActiveOrBackoffQueue(NodeAdded()); }

  // Advances the clock, flushes backoffQ and returns the names of the pods that
  // are in activeQ then.
  std::vector<std::string> After(Clock::Duration duration) {
    clock_.Advance(duration);
    queue_.FlushBackoffQCompleted();
    return Rest();
  }

  // Pops all pods of activeQ and returns their names. The pods stay in flight.
  std::vector<std::string> Rest() {
    Pod last;
    last.metadata.name = last.metadata.uid = "the end";
    last.spec.priority = std::numeric_limits<std::int32_t>::min();
    queue_.Add(std::make_shared<const Pod>(last));
    std::vector<std::string> names;
    while (true) {
      const std::string name = Pop().pod->metadata.name;
      if (name != "the end") {
        names.push_back(name);
        continue;
      }
      queue_.Done(name);
      return names;
    }
  }

  FakeClock clock_;
  Store<Pod> store_;
  Trace trace_{"minisched", clock_};
  Framework framework_ = FrameworkWithFakeFilter();
  SchedulingQueue queue_{clock_, trace_, framework_,
                         [this](const ObjectMeta& pod) {
                           return store_.Get(pod.namespace_name, pod.name);
                         }};
};

}  // namespace minisched
