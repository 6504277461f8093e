#pragma once

#include <string>

#include "framework/cycle_state.h"
#include "queue/scheduling_queue.h"

namespace minisched {

// One attempt to schedule a pod, until the end of its binding cycle.
struct PodAttempt {
  QueuedPodInfo info;
  CycleState state;
  std::string host;  // the node that was selected
};

}  // namespace minisched
