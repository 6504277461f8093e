#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string_view>

#include "minisched/api/pod.h"
#include "minisched/base/clock.h"

namespace minisched {

using PodPtr = std::shared_ptr<const Pod>;

struct PodGroup;

// A pod and what the queue records about it. Follows kube-scheduler's
// framework/types.go.
struct QueuedPodInfo {
  PodPtr pod;
  // When the pod was added to the queue, or returned to it after its last
  // attempt.
  Clock::TimePoint timestamp;
  // How often the pod has been popped.
  int attempts = 0;
  // The number of the last Pop() of this pod. Each Pop() has its own number.
  std::uint64_t pop = 0;
  // How many of the attempts ended because plugins rejected the pod.
  int unschedulable_count = 0;
  // How many attempts in a row have failed although no plugin rejected the pod:
  // with an error, or because the cluster has no nodes.
  int consecutive_errors_count = 0;
  // The names of the plugins that rejected the pod in its last attempt, or that
  // have gated it since.
  std::set<std::string_view> unschedulable_plugins = {};
  // The name of the plugin that gates the pod; empty if none does.
  std::string_view gating_plugin = {};
  // When the pod last left unschedulablePods because no event came, or would
  // have if no plugin gated it.
  Clock::TimePoint flushed = {};
  // The group that the pod was in when it was sorted into activeQ, or null.
  std::shared_ptr<const PodGroup> group = {};
};

}  // namespace minisched
