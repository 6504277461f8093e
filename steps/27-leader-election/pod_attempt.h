#pragma once

#include <memory>
#include <string>

#include "framework/cycle_state.h"
#include "framework/framework.h"
#include "framework/pods_in_pre_bind.h"
#include "framework/queued_pod_info.h"
#include "minisched/base/clock.h"
#include "minisched/base/wait_group.h"

namespace minisched {

// One attempt to schedule a pod, until the end of its binding cycle.
struct PodAttempt {
  WaitGroup::Token under_way;  // first, so that it is destroyed last
  QueuedPodInfo info;
  CycleState state;
  std::string host;   // the node that was selected
  PluginWaits waits;  // empty unless the pod has to wait on Permit
  // Permit or PreBind takes a while: the API server gets to know the host.
  bool is_nominated = false;
  // Null unless PreBind runs, or the pod is being bound.
  std::unique_ptr<PodInPreBind> in_pre_bind;
  Clock::TimePoint start;  // of the attempt
};

}  // namespace minisched
