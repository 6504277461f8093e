#include "tests/scheduling_queue_model_testing.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace minisched {
namespace {

constexpr std::chrono::minutes kLongestRest{5};

}  // namespace

int QueueModel::Number(const Pod& pod) { return std::stoi(pod.metadata.uid); }

bool QueueModel::IsQueued(int number) const {
  const Place place = pods_[number].place;
  return place == Place::kActive || place == Place::kBackoff ||
         place == Place::kUnschedulable;
}

Clock::TimePoint QueueModel::Until(int number) const {
  const ModelPod& pod = pods_[number];
  return pod.place == Place::kBackoff ? BackoffEnd(pod)
                                      : pod.info.timestamp + kLongestRest;
}

std::set<std::string> QueueModel::Wakes(int number) const {
  std::set<std::string> wakes;
  const QueuedPodInfo& info = pods_[number].info;
  for (const std::string_view plugin : info.unschedulable_plugins) {
    wakes.merge(EventNames(plugin));
  }
  return wakes;
}

void QueueModel::Update(const PodPtr& old, const PodPtr& pod,
                        const std::vector<ClusterEvent>& events) {
  const int number = Number(*pod);
  ModelPod& known = pods_[number];
  if (known.place == Place::kInFlight) {
    for (const ClusterEvent& event : events) Record({event, old, pod});
    return;
  }
  if (!IsQueued(number)) {
    known.info = {.pod = pod, .timestamp = clock_.Now()};
    MoveToActiveOrBackoff(number, "UnscheduledPodAdd");
    return;
  }
  known.info.pod = pod;
  if (known.place == Place::kActive) {
    const auto at = std::find(active_.begin(), active_.end(), number);
    Settle(static_cast<int>(at - active_.begin()));
  } else if (known.place == Place::kUnschedulable) {
    for (const ClusterEvent& event : events) {
      if (!CanHelp(known.info, {event, old, pod})) continue;
      MoveToActiveOrBackoff(number, event.Label());
      return;
    }
  }
}

void QueueModel::Delete(int number) {
  if (!IsQueued(number)) return;
  Leave(number);
  pods_[number].place = Place::kGone;
}

int QueueModel::Pop() {
  const int number = active_.front();
  Leave(number);
  ModelPod& pod = pods_[number];
  pod.place = Place::kInFlight;
  pod.changes.clear();
  ++pod.info.attempts;
  return number;
}

void QueueModel::AddUnschedulableIfNotPresent(const QueuedPodInfo& info,
                                              const PodPtr& newest) {
  const int number = Number(*info.pod);
  if (IsQueued(number)) return;
  ModelPod& pod = pods_[number];
  const bool was_in_flight = pod.place == Place::kInFlight;
  pod.place = Place::kGone;
  if (!newest) return;
  pod.info = info;
  pod.info.pod = newest;
  pod.info.timestamp = clock_.Now();
  if (info.unschedulable_plugins.empty()) {
    ++pod.info.consecutive_errors_count;
  } else {
    pod.info.consecutive_errors_count = 0;
    ++pod.info.unschedulable_count;
    const bool may_fit =
        !was_in_flight || std::any_of(pod.changes.begin(), pod.changes.end(),
                                      [&](const auto& change) {
                                        return CanHelp(pod.info, change);
                                      });
    if (!may_fit) {
      pod.place = Place::kUnschedulable;
      pod.event = "ScheduleAttemptFailure";
      return;
    }
  }
  MoveToActiveOrBackoff(number, "ScheduleAttemptFailure");
}

void QueueModel::MoveAllToActiveOrBackoffQueue(const ClusterChange& change) {
  Record(change);
  for (int i = 0; i < static_cast<int>(pods_.size()); ++i) {
    if (pods_[i].place != Place::kUnschedulable) continue;
    if (CanHelp(pods_[i].info, change)) {
      MoveToActiveOrBackoff(i, change.event.Label());
    }
  }
}

void QueueModel::FlushBackoffQCompleted() {
  for (int i = 0; i < static_cast<int>(pods_.size()); ++i) {
    if (pods_[i].place == Place::kBackoff && Until(i) <= clock_.Now()) {
      MoveToActive(i, "BackoffComplete");
    }
  }
}

void QueueModel::FlushUnschedulablePodsLeftover() {
  for (int i = 0; i < static_cast<int>(pods_.size()); ++i) {
    if (pods_[i].place == Place::kUnschedulable && Until(i) < clock_.Now()) {
      MoveToActiveOrBackoff(i, "UnschedulableTimeout");
    }
  }
}

Clock::TimePoint QueueModel::BackoffEnd(const ModelPod& pod) {
  constexpr int kSeconds[] = {1, 2, 4, 8, 10};
  const int errors = pod.info.consecutive_errors_count;
  const int failures = errors > 0 ? errors : pod.info.unschedulable_count;
  if (failures == 0) return pod.info.timestamp;
  return pod.info.timestamp +
         std::chrono::seconds(kSeconds[std::min(failures, 5) - 1]);
}

bool QueueModel::CanHelp(const QueuedPodInfo& info,
                         const ClusterChange& change) {
  const auto& plugins = info.unschedulable_plugins;
  return std::any_of(plugins.begin(), plugins.end(), [&](const auto& plugin) {
    return minisched::CanHelp(plugin, *info.pod, change);
  });
}

void QueueModel::Record(const ClusterChange& change) {
  for (ModelPod& pod : pods_) {
    if (pod.place == Place::kInFlight) pod.changes.push_back(change);
  }
}

bool QueueModel::IsBefore(int a, int b) const {
  const QueuedPodInfo& first = pods_[a].info;
  const QueuedPodInfo& second = pods_[b].info;
  const int more = first.pod->spec.priority.value_or(0) -
                   second.pod->spec.priority.value_or(0);
  return more > 0 || (more == 0 && first.timestamp < second.timestamp);
}

void QueueModel::Settle(int index) {
  for (; index > 0 && IsBefore(active_[index], active_[index - 1]); --index) {
    std::swap(active_[index], active_[index - 1]);
  }
  const int last = static_cast<int>(active_.size()) - 1;
  for (; index < last && IsBefore(active_[index + 1], active_[index]);
       ++index) {
    std::swap(active_[index], active_[index + 1]);
  }
}

void QueueModel::Leave(int number) { std::erase(active_, number); }

void QueueModel::MoveToActive(int number, std::string_view event) {
  pods_[number].place = Place::kActive;
  pods_[number].event = event;
  active_.push_back(number);
  Settle(static_cast<int>(active_.size()) - 1);
}

void QueueModel::MoveToActiveOrBackoff(int number, std::string_view event) {
  if (BackoffEnd(pods_[number]) <= clock_.Now()) {
    MoveToActive(number, event);
  } else {
    pods_[number].place = Place::kBackoff;
    pods_[number].event = event;
  }
}

}  // namespace minisched
