#pragma once

#include "framework/cycle_state.h"
#include "queue/scheduling_queue.h"

namespace minisched {

// One attempt to schedule a pod.
struct PodAttempt {
  QueuedPodInfo info;
  CycleState state;
};

}  // namespace minisched
