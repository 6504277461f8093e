#pragma once

#include <string>

#include "framework/cycle_state.h"
#include "framework/framework.h"
#include "framework/queued_pod_info.h"
#include "minisched/base/clock.h"
#include "minisched/base/wait_group.h"

namespace minisched {

// One try of a pod, until the end of its binding cycle. The callbacks of the
// binding cycle own it together.
struct BindingCycle {
  WaitGroup::Token under_way;  // first, so that it is destroyed last
  QueuedPodInfo info;
  CycleState state;
  std::string host;        // the node that was selected
  PluginWaits waits;       // empty unless the pod has to wait on Permit
  Clock::TimePoint start;  // of the try
};

}  // namespace minisched
