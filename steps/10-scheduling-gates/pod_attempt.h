#pragma once

#include <string>

#include "framework/cycle_state.h"
#include "framework/queued_pod_info.h"
#include "minisched/base/clock.h"

namespace minisched {

// One attempt to schedule a pod, until the end of its binding cycle.
struct PodAttempt {
  QueuedPodInfo info;
  CycleState state;
  std::string host;        // the node that was selected
  Clock::TimePoint start;  // of the attempt
};

}  // namespace minisched
