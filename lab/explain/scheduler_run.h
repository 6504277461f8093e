#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "lab/explain/scheduler_command.h"
#include "lab/scenario/cluster.h"
#include "minisched/api/pod.h"
#include "minisched/base/clock.h"

namespace minisched::explain {

// The result of a pod's first attempt.
struct Outcome {
  // The node that the pod is bound to, or that is selected for the pod's
  // volumes; "" if the attempt failed.
  std::string node;
  // True if the node is selected, but the pod is never bound, because it waits
  // for its volumes.
  bool waits_for_volumes = false;
  // The message of the failure; "" if there is none.
  std::string sentence;
  // The node from which the scheduler evicts pods for this one; "" for none.
  std::string nominated;
  // The record of the attempt (docs/reference/trace.md). Null without records.
  nlohmann::json attempt;
  // The name of the scheduler's program, from its records; else "the
  // scheduler".
  std::string program = "the scheduler";
};

// Starts a scheduler, waits for the end of the pod's first attempt, and stops
// the scheduler. `cluster` and `kubeconfig`, a text, are those of the copy. The
// command finds $KUBECONFIG, $SCHEDULER_NAME, which is the pod's, and $RECORD,
// the path for a recording. Files are written to a temporary directory. Throws
// CannotTell if the scheduler ends or if it has no result until `deadline`, and
// Cancelled. Calls `before_stop`, if it is set, while the scheduler still runs.
// REQUIRES: called on the main thread.
Outcome RunScheduler(
    scenario::Cluster& cluster, const std::string& kubeconfig,
    const SchedulerCommand& command, const Pod& pod, Clock::TimePoint deadline,
    const std::stop_token& stop,
    const std::function<void(const Outcome&)>& before_stop = {});

// Does the same with several pods of one scheduler, and returns the outcomes in
// their order. REQUIRES: there is a pod.
using Pods = std::vector<std::shared_ptr<const Pod>>;
std::vector<Outcome> RunScheduler(
    scenario::Cluster& cluster, const std::string& kubeconfig,
    const SchedulerCommand& command, const Pods& pods,
    Clock::TimePoint deadline, const std::stop_token& stop,
    const std::function<void(const std::vector<Outcome>&)>& before_stop = {});

}  // namespace minisched::explain
