#include "queue/scheduling_queue.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "minisched/api/pod_preemption.h"

namespace minisched {
namespace {

constexpr std::chrono::seconds kFlushBackoffPeriod{1};
constexpr int kFlushUnschedulablePeriods = 30;
constexpr std::chrono::minutes kMaxInUnschedulablePods{5};

// Returns true if the plugin keeps the pod from being tried, so that its hints
// decide when the pod moves.
bool HoldsPod(std::string_view plugin, const QueuedPodInfo& info) {
  return info.gating_plugin.empty()
             ? info.unschedulable_plugins.contains(plugin)
             : info.gating_plugin == plugin;
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

// Returns the changes of a pod that was updated, or was added if `old` is null.
std::vector<ClusterChange> ChangesOf(const PodPtr& old, const PodPtr& pod) {
  std::vector<ClusterChange> changes;
  if (!old) return changes;
  for (const ClusterEvent& event : PodSchedulingPropertiesChange(*old, *pod)) {
    changes.push_back({event, old, pod});
  }
  return changes;
}

}  // namespace

SchedulingQueue::SchedulingQueue(Clock& clock, Trace& trace,
                                 const Frameworks& frameworks, PodLister lister,
                                 const BackoffLimits& backoff_limits)
    : clock_(clock),
      trace_(trace),
      frameworks_(frameworks),
      lister_(std::move(lister)),
      backoff_limits_(backoff_limits),
      active_(
          [&framework = frameworks.First()](const QueuedPodInfo& a,
                                            const QueuedPodInfo& b) {
            return framework.queue_sort_plugin().Less(a, b);
          },
          [&framework = frameworks.First()](QueuedPodInfo& info) {
            framework.queue_sort_plugin().BeforeSort(info);
          }),
      backoff_([backoff_limits](const QueuedPodInfo& a,
                                const QueuedPodInfo& b) {
        return BackoffTime(a, backoff_limits) < BackoffTime(b, backoff_limits);
      }) {}

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
  const auto changes = ChangesOf(old, pod);
  MutexLock lock(mu_);
  if (in_flight_.Has(uid)) {
    for (const ClusterChange& change : changes) in_flight_.Record(change);
    return;
  }
  const bool lost_node = Nominate(*pod, NominationAfter(old, *pod));
  if (active_.Update(pod) || backoff_.Update(pod)) return;
  const auto unschedulable = unschedulable_.find(uid);
  if (unschedulable == unschedulable_.end()) {
    MoveToActiveOrBackoffQueue({.pod = pod, .timestamp = clock_.Now()},
                               "UnscheduledPodAdd");
    return;
  }
  unschedulable->second.pod = pod;
  for (const ClusterChange& change : changes) {
    if (!lost_node &&
        !IsPodWorthRequeuing(unschedulable->second, change, HintsFor(change))) {
      continue;
    }
    MoveToActiveOrBackoffQueue(*RemoveWaiting(uid), change.event.Label());
    return;
  }
}

void SchedulingQueue::UpdateInFlight(const PodPtr& old, const PodPtr& pod) {
  const auto changes = ChangesOf(old, pod);
  MutexLock lock(mu_);
  if (!in_flight_.Has(pod->metadata.uid)) return;
  for (const ClusterChange& change : changes) in_flight_.Record(change);
}

void SchedulingQueue::Delete(const Pod& pod) {
  const std::string& uid = pod.metadata.uid;
  MutexLock lock(mu_);
  if (active_.Remove(uid) || RemoveWaiting(uid)) {
    trace_.Moved(pod, Place::kGone);
  }
  Nominate(pod, "");
}

void SchedulingQueue::Activate(const std::vector<PodPtr>& pods) {
  MutexLock lock(mu_);
  for (const PodPtr& pod : pods) {
    if (in_flight_.Has(pod->metadata.uid)) {
      in_flight_.Record({{EventResource::kWildCard, action::kAll}, {}, pod});
    } else if (auto info = RemoveWaiting(pod->metadata.uid)) {
      if (PassesPreEnqueue(*info)) {
        MoveToActiveQ(*std::move(info), "ForceActivate");
      } else {
        AddToUnschedulablePods(*std::move(info), "ForceActivate");
      }
    }
  }
}

void SchedulingQueue::Retry(const PodPtr& pod) {
  MutexLock lock(mu_);
  if (in_flight_.Has(pod->metadata.uid)) {
    in_flight_.Record({{EventResource::kWildCard, action::kAll}, {}, pod});
  } else if (auto info = RemoveWaiting(pod->metadata.uid)) {
    MoveToActiveOrBackoffQueue(*std::move(info), "PreemptionFailed");
  }
}

std::optional<QueuedPodInfo> SchedulingQueue::Pop() {
  MutexLock lock(mu_);
  while (active_.empty() && !closed_) changed_.Wait(mu_);
  if (closed_) return std::nullopt;
  QueuedPodInfo info = active_.Pop();
  info.pop = in_flight_.Add(info.pod->metadata.uid);
  ++info.attempts;
  trace_.Moved(*info.pod, Place::kInFlight, {.attempts = info.attempts});
  return info;
}

void SchedulingQueue::Done(const std::string& uid) {
  MutexLock lock(mu_);
  in_flight_.Remove(uid);
}

PodPtr SchedulingQueue::AddUnschedulableIfNotPresent(
    QueuedPodInfo info, const NominatingInfo& nominating) {
  const std::string uid = info.pod->metadata.uid;
  MutexLock lock(mu_);
  const bool in_flight = in_flight_.Has(uid, info.pop);  // false after Done()
  // After Done(), an update may have added the pod again, and a later attempt
  // may have begun.
  const bool queued_again = Has(uid);
  const bool popped_again = !in_flight && in_flight_.Has(uid);
  PodPtr newest = lister_(info.pod->metadata);
  if (!newest || newest->metadata.uid != uid ||
      !newest->spec.node_name.empty()) {
    if (in_flight) in_flight_.Remove(uid);
    if (!queued_again && !popped_again) {
      trace_.Moved(*info.pod, Place::kGone, {.attempts = info.attempts});
    }
    return nullptr;
  }
  if (queued_again || popped_again) return newest;
  const bool keeps_node = nominating.mode == NominatingInfo::Mode::kNoop;
  // True if somebody else has taken the node away during the attempt.
  const bool lost_node =
      Nominate(*newest, keeps_node ? NominationAfter(info.pod, *newest)
                                   : nominating.node_name) &&
      keeps_node;
  info.pod = newest;
  info.timestamp = clock_.Now();
  const bool rejected = !info.unschedulable_plugins.empty();
  if (rejected) {
    ++info.unschedulable_count;
    info.consecutive_errors_count = 0;
  } else {
    ++info.consecutive_errors_count;
  }
  // After Done(), the queue doesn't have the changes, so assume that one helps.
  const bool retry =
      !rejected || !in_flight || lost_node ||
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
  MoveAll(change, hints);
}

void SchedulingQueue::FlushBackoffQCompleted() {
  MutexLock lock(mu_);
  while (!backoff_.empty() &&
         BackoffTime(*backoff_.Peek(), backoff_limits_) <= clock_.Now()) {
    MoveToActiveQ(backoff_.Pop(), "BackoffComplete");
  }
}

void SchedulingQueue::FlushUnschedulablePodsLeftover() {
  MutexLock lock(mu_);
  MoveUnschedulablePods(
      [now = clock_.Now()](QueuedPodInfo& info) {
        const auto since = std::max(info.timestamp, info.flushed);
        if (now - since <= kMaxInUnschedulablePods) return false;
        info.flushed = now;
        return true;
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

void SchedulingQueue::DeleteNominatedPodIfExists(const Pod& pod) {
  MutexLock lock(mu_);
  Nominate(pod, "");
}

bool SchedulingQueue::Has(const std::string& uid) const {
  return active_.Has(uid) || backoff_.Has(uid) || unschedulable_.contains(uid);
}

std::string SchedulingQueue::NominationAfter(const PodPtr& old,
                                             const Pod& pod) const {
  const std::string& node = pod.status.nominated_node_name;
  // Without a change, the nominator's node is newer: the PATCH that sets it may
  // be under way.
  const bool changed = !old || old->status.nominated_node_name != node;
  return changed ? node : nominator_.NominatedNode(pod);
}

bool SchedulingQueue::Nominate(const Pod& pod, const std::string& node) {
  const std::string before = nominator_.Nominate(pod, node);
  if (before.empty() || before == node || before == pod.spec.node_name) {
    return false;
  }
  Pod gone = pod;
  gone.spec.node_name = before;
  const ClusterChange change{{EventResource::kAssignedPod, action::kDelete},
                             std::make_shared<const Pod>(std::move(gone)),
                             {},
                             PodPriority(pod)};
  MoveAll(change, HintsFor(change));
  return true;
}

SchedulingQueue::Hints SchedulingQueue::HintsFor(
    const ClusterChange& change) const {
  Hints hints;
  for (const auto& [name, framework] : frameworks_) {
    for (const QueueingHintFunction& function : framework->queueing_hints()) {
      const auto& [event, hint, concerns] = function.registered;
      if (event.Matches(change.event) && (!concerns || concerns(change))) {
        hints.emplace_back(framework, &function);
      }
    }
  }
  return hints;
}

bool SchedulingQueue::IsPodWorthRequeuing(const QueuedPodInfo& info,
                                          const ClusterChange& change,
                                          const Hints& hints) const {
  if (change.max_priority && PodPriority(*info.pod) > *change.max_priority) {
    return false;
  }
  if (change.event.resource == EventResource::kWildCard) {
    return change.New<Pod>()->metadata.uid == info.pod->metadata.uid;
  }
  // The resources that a pod gives back don't help the pod itself.
  const auto left = change.Old<Pod>();
  if (!change.New<Pod>() && left &&
      left->metadata.uid == info.pod->metadata.uid) {
    return false;
  }
  const Framework* const framework = &frameworks_.ForPod(*info.pod);
  return std::any_of(hints.begin(), hints.end(), [&](const auto& registered) {
    const auto& [by, function] = registered;
    const auto& hint = function->registered.hint;
    return by == framework && HoldsPod(function->plugin, info) &&
           (!hint || hint(*info.pod, change) == QueueingHint::kQueue);
  });
}

void SchedulingQueue::MoveAll(const ClusterChange& change, const Hints& hints) {
  MoveUnschedulablePods(
      [&](const QueuedPodInfo& info) {
        return IsPodWorthRequeuing(info, change, hints);
      },
      change.event.Label());
  in_flight_.Record(change);
}

bool SchedulingQueue::PassesPreEnqueue(QueuedPodInfo& info) const {
  const Status status =
      frameworks_.ForPod(*info.pod).RunPreEnqueuePlugins(*info.pod);
  info.gating_plugin = status.plugin();
  if (status.IsSuccess()) return true;
  info.unschedulable_plugins.insert(status.plugin());
  return false;
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
  std::vector<QueuedPodInfo> moved;
  for (auto pod = unschedulable_.begin(); pod != unschedulable_.end();) {
    if (!predicate(pod->second)) {
      ++pod;
      continue;
    }
    moved.push_back(std::move(pod->second));
    pod = unschedulable_.erase(pod);
  }
  // A pod that is still gated returns to unschedulablePods.
  for (QueuedPodInfo& info : moved) {
    MoveToActiveOrBackoffQueue(std::move(info), event);
  }
}

void SchedulingQueue::MoveToActiveOrBackoffQueue(QueuedPodInfo info,
                                                 const std::string& event) {
  if (!PassesPreEnqueue(info)) {
    AddToUnschedulablePods(std::move(info), event);
  } else if (BackoffTime(info, backoff_limits_) > clock_.Now()) {
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
                .until = BackoffTime(info, backoff_limits_)});
  backoff_.Add(std::move(info));
}

void SchedulingQueue::AddToUnschedulablePods(QueuedPodInfo info,
                                             const std::string& event) {
  const bool gated = !info.gating_plugin.empty();
  const auto& plugins = info.unschedulable_plugins;
  Move move{.event = event,
            .plugins = {plugins.begin(), plugins.end()},
            .wakes = Wakes(frameworks_.ForPod(*info.pod), info),
            .attempts = info.attempts};
  if (!gated) move.until = info.timestamp + kMaxInUnschedulablePods;
  trace_.Moved(*info.pod, gated ? Place::kGated : Place::kUnschedulable, move);
  const std::string uid = info.pod->metadata.uid;
  unschedulable_.emplace(uid, std::move(info));
}

}  // namespace minisched
