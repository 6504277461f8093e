#include "queue/scheduling_queue.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "queue/backoff.h"

namespace minisched {
namespace {

constexpr std::chrono::seconds kFlushBackoffPeriod{1};
constexpr int kFlushUnschedulablePeriods = 30;
constexpr std::chrono::minutes kMaxInUnschedulablePods{5};

// Returns true if the plugin rejected the pod, so that its hints decide when
// the pod moves.
bool HoldsPod(std::string_view plugin, const QueuedPodInfo& info) {
  return info.unschedulable_plugins.contains(plugin);
}

// Returns the names of the events that may move the pod, for the trace.
std::vector<std::string> Wakes(const Framework& framework,
                               const QueuedPodInfo& info) {
  std::set<std::string> wakes;
  for (const auto& [plugin, registered] : framework.queueing_hints()) {
    if (HoldsPod(plugin, info)) wakes.merge(registered.event.Names());
  }
  return {wakes.begin(), wakes.end()};
}

bool CompletesBackoffEarlier(const QueuedPodInfo& a, const QueuedPodInfo& b) {
  return BackoffTime(a) < BackoffTime(b);
}

}  // namespace

SchedulingQueue::SchedulingQueue(Clock& clock, Trace& trace,
                                 const Framework& framework, PodLister lister)
    : clock_(clock),
      trace_(trace),
      framework_(framework),
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
  std::vector<ClusterChange> changes;
  if (old) {
    for (const ClusterEvent& change :
         PodSchedulingPropertiesChange(*old, *pod)) {
      changes.push_back({change, old, pod});
    }
  }
  MutexLock lock(mu_);
  if (in_flight_.Has(uid)) {
    for (const ClusterChange& change : changes) in_flight_.Record(change);
    return;
  }
  if (active_.Update(pod) || backoff_.Update(pod)) return;
  const auto unschedulable = unschedulable_.find(uid);
  if (unschedulable == unschedulable_.end()) {
    MoveToActiveQ({.pod = pod, .timestamp = clock_.Now()}, "UnscheduledPodAdd");
    return;
  }
  unschedulable->second.pod = pod;
  for (const ClusterChange& change : changes) {
    if (!IsPodWorthRequeuing(unschedulable->second, change, HintsFor(change))) {
      continue;
    }
    MoveToActiveOrBackoffQueue(*RemoveWaiting(uid), change.event.Label());
    return;
  }
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
  in_flight_.Add(info.pod->metadata.uid);
  ++info.attempts;
  trace_.Moved(*info.pod, Place::kInFlight, {.attempts = info.attempts});
  return info;
}

void SchedulingQueue::Done(const std::string& uid) {
  MutexLock lock(mu_);
  in_flight_.Remove(uid);
}

PodPtr SchedulingQueue::AddUnschedulableIfNotPresent(QueuedPodInfo info) {
  const std::string uid = info.pod->metadata.uid;
  MutexLock lock(mu_);
  PodPtr newest = lister_(info.pod->metadata);
  if (!newest || newest->metadata.uid != uid ||
      !newest->spec.node_name.empty()) {
    in_flight_.Remove(uid);
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
  const bool retry =
      !rejected ||
      in_flight_.AnyChangeSincePop(uid, [&](const ClusterChange& change) {
        return IsPodWorthRequeuing(info, change, HintsFor(change));
      });
  in_flight_.Remove(uid);
  if (retry) {
    MoveToActiveOrBackoffQueue(std::move(info), "ScheduleAttemptFailure");
  } else {
    AddToUnschedulablePods(std::move(info), "ScheduleAttemptFailure");
  }
  return newest;
}

void SchedulingQueue::MoveAllToActiveOrBackoffQueue(
    const ClusterChange& change) {
  const Hints hints = HintsFor(change);
  if (hints.empty()) return;
  MutexLock lock(mu_);
  MoveUnschedulablePods(
      [&](const QueuedPodInfo& info) {
        return IsPodWorthRequeuing(info, change, hints);
      },
      change.event.Label());
  in_flight_.Record(change);
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

SchedulingQueue::Hints SchedulingQueue::HintsFor(
    const ClusterChange& change) const {
  Hints hints;
  for (const QueueingHintFunction& function : framework_.queueing_hints()) {
    if (function.registered.event.Matches(change.event)) {
      hints.push_back(&function);
    }
  }
  return hints;
}

bool SchedulingQueue::IsPodWorthRequeuing(const QueuedPodInfo& info,
                                          const ClusterChange& change,
                                          const Hints& hints) const {
  return std::any_of(hints.begin(), hints.end(), [&](const auto* function) {
    const auto& hint = function->registered.hint;
    return HoldsPod(function->plugin, info) &&
           (!hint || hint(*info.pod, change) == QueueingHint::kQueue);
  });
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
                .wakes = Wakes(framework_, info),
                .attempts = info.attempts,
                .until = info.timestamp + kMaxInUnschedulablePods});
  const std::string uid = info.pod->metadata.uid;
  unschedulable_.emplace(uid, std::move(info));
}

}  // namespace minisched
