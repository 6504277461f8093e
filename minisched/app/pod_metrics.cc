#include "minisched/app/pod_metrics.h"

#include <utility>

namespace minisched {

void PodMetrics::Moved(const Pod& pod, Place place, const Move& move) {
  CountQueue(place, move.event);
  const std::string& uid = pod.metadata.uid;
  const auto now = clock_.Now();
  MutexLock lock(mu_);
  // The last move of a pod may be reported twice.
  const bool is_last = place == Place::kBound || place == Place::kGone;
  if (is_last && !pending_.contains(uid)) return;
  PendingPod& pending = pending_[uid];
  pending.profile = pod.spec.scheduler_name;
  const auto popped = std::exchange(pending.popped, std::nullopt);
  switch (place) {
    case Place::kActive:
      if (!pending.queued) pending.queued = now;
      break;
    case Place::kGated:
    case Place::kBackoff:
    case Place::kUnschedulable:
      SetPlugins(pending, move.plugins);
      break;
    case Place::kInFlight:
      pending.popped = now;
      SetPlugins(pending, {});
      break;
    case Place::kAssumed:
      if (popped) metrics_.SchedulingAlgorithmDuration(now - *popped);
      break;
    case Place::kWaiting:
      break;
    case Place::kBound:
      if (pending.queued) {
        metrics_.PodSchedulingSliDuration(move.attempts, now - *pending.queued);
      }
      [[fallthrough]];
    case Place::kGone:
      SetPlugins(pending, {});
      pending_.erase(uid);
  }
}

void PodMetrics::CountQueue(Place place, const std::string& event) {
  if (place == Place::kActive) metrics_.QueueIncomingPods("active", event);
  if (place == Place::kBackoff) metrics_.QueueIncomingPods("backoff", event);
  // Upstream keeps gated pods together with unschedulable ones.
  if (place == Place::kUnschedulable || place == Place::kGated) {
    metrics_.QueueIncomingPods("unschedulable", event);
  }
}

void PodMetrics::SetPlugins(PendingPod& pending,
                            const std::vector<std::string>& plugins) {
  for (const std::string& plugin : pending.plugins) {
    metrics_.AddUnschedulablePods(pending.profile, plugin, -1);
  }
  pending.plugins = plugins;
  for (const std::string& plugin : plugins) {
    metrics_.AddUnschedulablePods(pending.profile, plugin, 1);
  }
}

}  // namespace minisched
