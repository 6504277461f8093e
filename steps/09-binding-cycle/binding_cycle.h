#pragma once

#include <string>

#include "cycle_state.h"
#include "minisched/base/clock.h"
#include "minisched/base/wait_group.h"
#include "queued_pod_info.h"

namespace minisched {

// A pod on its way from the scheduling cycle to its node. The callbacks of the
// binding cycle own it together.
struct BindingCycle {
  WaitGroup::Token under_way;  // first: ends after the others are destroyed
  QueuedPodInfo info;
  CycleState state;
  std::string host;        // the node that was selected
  Clock::TimePoint start;  // of the try
};

}  // namespace minisched
