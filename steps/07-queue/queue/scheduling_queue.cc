#include "queue/scheduling_queue.h"

#include <chrono>
#include <utility>

#include "queue/backoff.h"

namespace minisched {
namespace {

constexpr std::chrono::seconds kFlushBackoffPeriod{1};
constexpr int kFlushUnschedulablePeriods = 30;
constexpr std::chrono::minutes kMaxInUnschedulablePods{5};

// Returns false if only the status has changed, or metadata without influence
// on scheduling. The scheduler itself writes the status of pods that fail.
bool IsPodUpdated(const Pod& old, const Pod& pod) {
  const auto strip = [](ObjectMeta metadata) {
    metadata.resource_version.clear();
    metadata.generation = 0;
    metadata.finalizers.clear();
    return metadata;
  };
  return old.spec != pod.spec || strip(old.metadata) != strip(pod.metadata);
}

bool CompletesBackoffEarlier(const QueuedPodInfo& a, const QueuedPodInfo& b) {
  return BackoffTime(a) < BackoffTime(b);
}

}  // namespace

SchedulingQueue::SchedulingQueue(Clock& clock, Trace& trace,
                                 const Framework& framework, PodLister lister)
    : clock_(clock),
      trace_(trace),
      lister_(std::move(lister)),
      active_([&framework](const QueuedPodInfo& a, const QueuedPodInfo& b) {
        return framework.queue_sort_plugin().Less(a, b);
      }),
      backoff_(CompletesBackoffEarlier) {}

void SchedulingQueue::Run(const std::stop_token& stop) {
  for (int period = 1; clock_.SleepFor(kFlushBackoffPeriod, stop); ++period) {
    FlushBackoffQCompleted();
    if (period % kFlushUnschedulablePeriods == 0) {
      FlushUnschedulablePodsLeftover();
    }
  }
}

void SchedulingQueue::Add(const PodPtr& pod) { Update(nullptr, pod); }

void SchedulingQueue::Update(const PodPtr& old, const PodPtr& pod) {
  const std::string& uid = pod->metadata.uid;
  const bool updated = !old || IsPodUpdated(*old, *pod);
  MutexLock lock(mu_);
  const auto in_flight = in_flight_.find(uid);
  if (in_flight != in_flight_.end()) {
    if (updated) in_flight->second = 0;
    return;
  }
  if (active_.Update(pod) || backoff_.Update(pod)) return;
  const auto unschedulable = unschedulable_.find(uid);
  if (unschedulable == unschedulable_.end()) {
    MoveToActiveQ({.pod = pod, .timestamp = clock_.Now()}, "UnscheduledPodAdd");
    return;
  }
  unschedulable->second.pod = pod;
  if (updated)
    MoveToActiveOrBackoffQueue(*RemoveWaiting(uid), "TargetPodUpdate");
}

void SchedulingQueue::Delete(const Pod& pod) {
  const std::string& uid = pod.metadata.uid;
  MutexLock lock(mu_);
  if (active_.Remove(uid) || RemoveWaiting(uid)) {
    trace_.Moved(pod, Place::kGone);
  }
}

std::optional<QueuedPodInfo> SchedulingQueue::Pop() {
  MutexLock lock(mu_);
  while (active_.empty() && !closed_) changed_.Wait(mu_);
  if (closed_) return std::nullopt;
  QueuedPodInfo info = active_.Pop();
  in_flight_[info.pod->metadata.uid] = event_count_;
  ++info.attempts;
  trace_.Moved(*info.pod, Place::kInFlight, {.attempts = info.attempts});
  return info;
}

void SchedulingQueue::Done(const std::string& uid) {
  MutexLock lock(mu_);
  in_flight_.erase(uid);
}

PodPtr SchedulingQueue::AddUnschedulableIfNotPresent(QueuedPodInfo info) {
  const std::string uid = info.pod->metadata.uid;
  MutexLock lock(mu_);
  const auto in_flight = in_flight_.extract(uid);
  PodPtr newest = lister_(info.pod->metadata);
  if (!newest || newest->metadata.uid != uid ||
      !newest->spec.node_name.empty()) {
    trace_.Moved(*info.pod, Place::kGone, {.attempts = info.attempts});
    return nullptr;
  }
  info.pod = newest;
  info.timestamp = clock_.Now();
  const bool rejected = !info.unschedulable_plugins.empty();
  if (rejected) {
    ++info.unschedulable_count;
    info.consecutive_errors_count = 0;
  } else {
    ++info.consecutive_errors_count;
  }
  const bool retry = !rejected || in_flight.mapped() < event_count_;
  if (retry) {
    MoveToActiveOrBackoffQueue(std::move(info), "ScheduleAttemptFailure");
  } else {
    AddToUnschedulablePods(std::move(info), "ScheduleAttemptFailure");
  }
  return newest;
}

void SchedulingQueue::MoveAllToActiveOrBackoffQueue(const std::string& event) {
  MutexLock lock(mu_);
  ++event_count_;
  MoveUnschedulablePods([](const QueuedPodInfo&) { return true; }, event);
}

void SchedulingQueue::FlushBackoffQCompleted() {
  MutexLock lock(mu_);
  while (!backoff_.empty() && BackoffTime(*backoff_.Peek()) <= clock_.Now()) {
    MoveToActiveQ(backoff_.Pop(), "BackoffComplete");
  }
}

void SchedulingQueue::FlushUnschedulablePodsLeftover() {
  MutexLock lock(mu_);
  MoveUnschedulablePods(
      [now = clock_.Now()](const QueuedPodInfo& info) {
        return now - info.timestamp > kMaxInUnschedulablePods;
      },
      "UnschedulableTimeout");
}

QueueRecord SchedulingQueue::ActiveOrder(std::size_t n) const {
  MutexLock lock(mu_);
  QueueRecord order{.length = active_.size()};
  for (const QueuedPodInfo& info : active_) {
    if (order.active.size() == n) break;
    order.active.push_back(info.pod->metadata.uid);
  }
  return order;
}

void SchedulingQueue::Close() {
  MutexLock lock(mu_);
  closed_ = true;
  changed_.NotifyAll();
}

bool SchedulingQueue::Has(const std::string& uid) const {
  return active_.Has(uid) || backoff_.Has(uid) || unschedulable_.contains(uid);
}

std::optional<QueuedPodInfo> SchedulingQueue::RemoveWaiting(
    const std::string& uid) {
  if (auto info = backoff_.Remove(uid)) return info;
  auto unschedulable = unschedulable_.extract(uid);
  if (unschedulable.empty()) return std::nullopt;
  return std::move(unschedulable.mapped());
}

template <class Predicate>
void SchedulingQueue::MoveUnschedulablePods(const Predicate& predicate,
                                            const std::string& event) {
  for (auto pod = unschedulable_.begin(); pod != unschedulable_.end();) {
    if (!predicate(pod->second)) {
      ++pod;
      continue;
    }
    QueuedPodInfo info = std::move(pod->second);
    pod = unschedulable_.erase(pod);
    MoveToActiveOrBackoffQueue(std::move(info), event);
  }
}

void SchedulingQueue::MoveToActiveOrBackoffQueue(QueuedPodInfo info,
                                                 const std::string& event) {
  if (BackoffTime(info) > clock_.Now()) {
    MoveToBackoffQ(std::move(info), event);
  } else {
    MoveToActiveQ(std::move(info), event);
  }
}

void SchedulingQueue::MoveToActiveQ(QueuedPodInfo info,
                                    const std::string& event) {
  trace_.Moved(*info.pod, Place::kActive,
               {.event = event, .attempts = info.attempts});
  active_.Add(std::move(info));
  changed_.NotifyOne();
}

void SchedulingQueue::MoveToBackoffQ(QueuedPodInfo info,
                                     const std::string& event) {
  const auto& plugins = info.unschedulable_plugins;
  trace_.Moved(*info.pod, Place::kBackoff,
               {.event = event,
                .plugins = {plugins.begin(), plugins.end()},
                .attempts = info.attempts,
                .until = BackoffTime(info)});
  backoff_.Add(std::move(info));
}

void SchedulingQueue::AddToUnschedulablePods(QueuedPodInfo info,
                                             const std::string& event) {
  const auto& plugins = info.unschedulable_plugins;
  trace_.Moved(*info.pod, Place::kUnschedulable,
               {.event = event,
                .plugins = {plugins.begin(), plugins.end()},
                .attempts = info.attempts,
                .until = info.timestamp + kMaxInUnschedulablePods});
  const std::string uid = info.pod->metadata.uid;
  unschedulable_.emplace(uid, std::move(info));
}

}  // namespace minisched
