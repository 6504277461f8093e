// What happens to a pod after a node was selected for it. No thread waits for
// the answers: each function passes the next one on as a callback. Follows
// bindingCycle of kube-scheduler's schedule_one.go.
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "minisched/app/logging.h"
#include "minisched/client/pod_condition.h"
#include "scheduler.h"

namespace minisched {

void Scheduler::AddWaitingPod(const BindingCycle& cycle) {
  const Pod& pod = *cycle.info.pod;
  Move move{.attempts = cycle.info.attempts, .node = cycle.host};
  for (const auto& [plugin, wait] : cycle.waits) {
    move.plugins.emplace_back(plugin);
    const auto until = clock_.Now() + wait;
    move.until = std::min(until, move.until.value_or(until));
  }
  trace_.Moved(pod, Place::kWaiting, std::move(move));
  const auto waiting =
      waiting_pods_.Add(cycle.info.pod, cycle.host, cycle.waits);
  // Check again: an event handler that ran before Add() found no waiting pod.
  const auto now = informers_.Of<Pod>().store().Get(pod.metadata.namespace_name,
                                                    pod.metadata.name);
  if (!now || now->metadata.uid != pod.metadata.uid ||
      now->metadata.deletion_timestamp) {
    waiting->Reject("", "removed");
  } else if (!informers_.Of<Node>().store().Get("", cycle.host)) {
    waiting->Reject("", "node deleted");
  }
}

void Scheduler::RunBindingCycle(const std::shared_ptr<BindingCycle>& cycle) {
  const auto after_permit = [this, cycle](const Status& status) {
    if (status.IsSuccess()) {
      PreBindAndBind(cycle);
      return Executor::Task();
    }
    const auto failure = RejectedOn(cycle->host, status);
    UnreserveAndForget(*cycle, "Permit", failure);
    return Executor::Task(
        [this, cycle, failure] { RequeueAndReport(*cycle, failure); });
  };
  waiting_pods_.WaitOnPermit(*cycle->info.pod, after_permit);
}

void Scheduler::PreBindAndBind(const std::shared_ptr<BindingCycle>& cycle) {
  const Pod& pod = *cycle->info.pod;
  if (!cycle->waits.empty()) {
    trace_.Moved(pod, Place::kAssumed,
                 {.attempts = cycle->info.attempts, .node = cycle->host});
  }
  // If PreBind or Bind fails, the pod waits for a backoff, not for an event. So
  // the queue need not keep events for this pod any longer.
  queue_.Done(pod.metadata.uid);
  const Framework& framework = FrameworkForPod(pod);
  const auto after_bind = [this, cycle](const Status& status) {
    if (status.IsSuccess()) return FinishBindingCycle(*cycle, status);
    HandleBindingCycleError(cycle, "Bind", {.status = status});
  };
  const auto after_pre_bind = [=, this, &framework](const Status& status) {
    if (!status.IsSuccess()) {
      HandleBindingCycleError(cycle, "PreBind", {.status = status});
      return;
    }
    framework.RunBindPlugins(cycle->state, *cycle->info.pod, cycle->host,
                             requests_.get_token(), after_bind);
  };
  framework.RunPreBindPlugins(cycle->state, pod, cycle->host,
                              requests_.get_token(), after_pre_bind);
}

void Scheduler::FinishBindingCycle(BindingCycle& cycle, const Status& bound) {
  const Pod& pod = *cycle.info.pod;
  spdlog::info("bound {} to {}", ObjectName(pod.metadata), cycle.host);
  metrics_.PodScheduled(clock_.Now() - cycle.start);
  metrics_.PodSchedulingAttempts(cycle.info.attempts);
  trace_.Tried(
      [&] { return DescribeBinding(cycle, "Bind", {.status = bound}); });
  trace_.Moved(pod, Place::kBound,
               {.attempts = cycle.info.attempts, .node = cycle.host});
  recorder_.Eventf(GetReference(pod), {}, "Normal", "Scheduled", "Binding",
                   fmt::format("Successfully assigned {} to {}",
                               ObjectName(pod.metadata), cycle.host));
  FrameworkForPod(pod).RunPostBindPlugins(cycle.state, pod, cycle.host);
}

void Scheduler::HandleBindingCycleError(
    const std::shared_ptr<BindingCycle>& cycle, std::string_view point,
    const SchedulingFailure& failure) {
  // A cancelled Binding is not a failure: the next scheduler tries the pod.
  if (requests_.stop_requested()) return;
  UnreserveAndForget(*cycle, point, failure);
  RequeueAndReport(*cycle, failure);
}

void Scheduler::RequeueAndReport(const BindingCycle& cycle,
                                 const SchedulingFailure& failure) {
  // Other pods may have been rejected because this pod had the room. Send the
  // event even if the informers have confirmed the pod: it may have been bound
  // to another node. The event doesn't move this pod, so it may be sent before
  // or after Requeue().
  Pod assumed = *cycle.info.pod;
  assumed.spec.node_name = cycle.host;
  queue_.MoveAllToActiveOrBackoffQueue(
      {{EventResource::kAssignedPod, action::kDelete},
       std::make_shared<const Pod>(std::move(assumed)),
       {}});
  const auto report = Requeue(cycle.info, failure, cycle.start);
  if (!report) return;
  const auto& [pod, condition] = *report;
  const auto warn = [name = ObjectName(pod->metadata)](std::string_view why) {
    spdlog::warn("failed to patch PodScheduled of pod {}: {}", name, why);
  };
  try {
    PatchPodConditionAsync(client_, pod, condition, clock_.WallNow(),
                           requests_.get_token(),
                           [warn](const ClientResult<bool>& result) {
                             if (result || result.error().As<Cancelled>()) {
                               return;
                             }
                             warn(result.error().what());
                           });
  } catch (const std::invalid_argument& error) {  // an impossible name
    warn(error.what());
  }
}

void Scheduler::UnreserveAndForget(BindingCycle& cycle, std::string_view point,
                                   const SchedulingFailure& failure) {
  const Pod& pod = *cycle.info.pod;
  trace_.Tried([&] { return DescribeBinding(cycle, point, failure); });
  FrameworkForPod(pod).RunReservePluginsUnreserve(cycle.state, pod, cycle.host);
  cache_.ForgetPod(pod);
}

SchedulingFailure Scheduler::RejectedOn(const std::string& node,
                                        const Status& status) {
  if (!status.IsRejected()) return {.status = status};
  SchedulingFailure failure;
  failure.diagnosis.node_to_status.Set(node, status);
  failure.diagnosis.AddPluginStatus(status);
  failure.status = Status(status.code(), FitError(1, failure.diagnosis));
  return failure;
}

}  // namespace minisched
