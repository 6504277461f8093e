// What happens to a pod after a node was selected for it. Follows bindingCycle
// of kube-scheduler's schedule_one.go.
#include <algorithm>
#include <memory>
#include <utility>

#include "minisched/base/log.h"
#include "scheduler.h"

namespace minisched {

void Scheduler::AddWaitingPod(const PodAttempt& attempt) {
  const Pod& pod = *attempt.info.pod;
  Move move{.attempts = attempt.info.attempts, .node = attempt.host};
  for (const auto& [plugin, wait] : attempt.waits) {
    move.plugins.emplace_back(plugin);
    const auto until = clock_.Now() + wait;
    move.until = std::min(until, move.until.value_or(until));
  }
  trace_.Moved(pod, Place::kWaiting, std::move(move));
  const auto* with = attempt.state.Find<WaitsWith>();
  waiting_pods_.Add(attempt.info.pod, attempt.host, attempt.waits,
                    with != nullptr ? with->group : "");
  // Check again: an event handler that ran before Add() found no waiting pod.
  const auto now = informers_.Of<Pod>().store().Get(pod.metadata.namespace_name,
                                                    pod.metadata.name);
  if (!now || now->metadata.uid != pod.metadata.uid ||
      now->metadata.deletion_timestamp) {
    waiting_pods_.Reject(pod.metadata.uid, "", "removed");
  } else if (!informers_.Of<Node>().store().Get("", attempt.host)) {
    waiting_pods_.Reject(pod.metadata.uid, "", "node deleted");
  }
}

Task<> Scheduler::RunBindingCycle(PodAttempt attempt) {
  const Pod& pod = *attempt.info.pod;
  const std::stop_token stop = requests_.get_token();

  Status permitted;
  if (attempt.is_nominated) permitted = co_await NominateAndWait(attempt);
  if (!permitted.IsSuccess()) {
    attempt.state.report().Ran("Permit", permitted.plugin(), permitted);
    UnreserveAndForget(attempt);
    co_await waiting_pods_.RemoveWithGroup(pod);
    WakeOtherPods(attempt);
    RequeueAndReport(attempt, RejectedOn(attempt.host, permitted));
    co_return;
  }
  if (!attempt.waits.empty()) {
    trace_.Moved(pod, Place::kAssumed,
                 {.attempts = attempt.info.attempts, .node = attempt.host});
  }

  // If PreBind or Bind fails, the pod waits for a backoff, not for an event. So
  // the queue need not keep events for this pod any longer.
  queue_.Done(pod.metadata.uid);

  // Until the Binding, a more important pod may cancel the attempt.
  attempt.in_pre_bind =
      std::make_unique<PodInPreBind>(pods_in_pre_bind_, pod.metadata.uid, stop);
  const Status result = co_await ProfileForPod(pod).framework.RunPreBindPlugins(
      attempt.state, pod, attempt.host, attempt.in_pre_bind->stop_token());
  const Status prepared = attempt.in_pre_bind->MarkPrebound(result);
  if (!prepared.IsSuccess()) {
    HandleBindingCycleError(attempt, {.status = prepared});
    co_return;
  }
  if (!CheckLeader()) co_return;  // the next leader tries the pod
  const Status bound = co_await Bind(attempt, stop);
  if (!bound.IsSuccess()) {
    HandleBindingCycleError(attempt, {.status = bound});
    co_return;
  }
  FinishBindingCycle(attempt);
}

Task<Status> Scheduler::NominateAndWait(const PodAttempt& attempt) {
  std::vector<Task<Status>> tasks;
  tasks.push_back(Nominate(attempt));
  tasks.push_back(waiting_pods_.WaitOnPermit(attempt.info.pod));
  const std::vector<Status> results = co_await AllOf(std::move(tasks));
  co_return results.back();
}

Task<Status> Scheduler::Nominate(const PodAttempt& attempt) {
  const PodStatusChange nomination{.nominated_node_name = attempt.host};
  co_await PatchStatus(binding_cycles_.Begin(), attempt.info.pod, nomination);
  co_return Code::kSuccess;  // it works without the nomination, too
}

Task<Status> Scheduler::Bind(PodAttempt& attempt, std::stop_token stop) {
  const Pod& pod = *attempt.info.pod;
  for (const auto& extender : extenders_) {
    if (!extender->is_binder() || !extender->IsInterested(pod)) continue;
    const Status bound = co_await extender->Bind(pod, attempt.host, stop);
    attempt.state.report().Ran("Bind", extender->Name(), bound);
    if (bound.IsSuccess() || !extender->is_ignorable()) co_return bound;
    spdlog::warn("going on without an extender: {}", bound.Message());
  }
  const Status bound = co_await ProfileForPod(pod).framework.RunBindPlugins(
      attempt.state, pod, attempt.host, stop);
  co_return bound;
}

void Scheduler::FinishBindingCycle(PodAttempt& attempt) {
  const Pod& pod = *attempt.info.pod;
  spdlog::info("bound {} to {}", ObjectName(pod.metadata), attempt.host);
  metrics_.PodScheduled(pod.spec.scheduler_name, clock_.Now() - attempt.start);
  metrics_.PodSchedulingAttempts(attempt.info.attempts);
  attempt.state.report().Bound();
  trace_.Moved(pod, Place::kBound,
               {.attempts = attempt.info.attempts, .node = attempt.host});
  ProfileForPod(pod).recorder->Eventf(
      GetReference(pod), {}, "Normal", "Scheduled", "Binding",
      fmt::format("Successfully assigned {} to {}", ObjectName(pod.metadata),
                  attempt.host));
  ProfileForPod(pod).framework.RunPostBindPlugins(attempt.state, pod,
                                                  attempt.host);
}

void Scheduler::HandleBindingCycleError(PodAttempt& attempt,
                                        const SchedulingFailure& failure) {
  // A cancelled Binding is not a failure: the next scheduler tries the pod.
  if (!CheckLeader()) return;
  UnreserveAndForget(attempt);
  WakeOtherPods(attempt);
  RequeueAndReport(attempt, failure);
}

void Scheduler::UnreserveAndForget(PodAttempt& attempt) {
  const Pod& pod = *attempt.info.pod;
  ProfileForPod(pod).framework.RunReservePluginsUnreserve(attempt.state, pod,
                                                          attempt.host);
  cache_.ForgetPod(pod);
  attempt.in_pre_bind.reset();  // a preemptor may wait for this
}

void Scheduler::WakeOtherPods(const PodAttempt& attempt) {
  // Other pods may have been rejected because this pod had the resources. Send
  // the event even if the informers have confirmed the pod: it may have been
  // bound to another node. The event doesn't move this pod, so it may be sent
  // before or after Requeue().
  Pod assumed = *attempt.info.pod;
  assumed.spec.node_name = attempt.host;
  queue_.MoveAllToActiveOrBackoffQueue(
      {{EventResource::kAssignedPod, action::kDelete},
       std::make_shared<const Pod>(std::move(assumed)),
       {}});
}

void Scheduler::RequeueAndReport(const PodAttempt& attempt,
                                 const SchedulingFailure& failure) {
  const auto report = Requeue(attempt, failure);
  if (!report) return;
  auto [pod, change] = *report;
  if (attempt.is_nominated) {
    // The informer may not have the nomination yet, which this PATCH clears.
    Pod nominated = *pod;
    nominated.status.nominated_node_name = attempt.host;
    pod = std::make_shared<const Pod>(std::move(nominated));
  }
  PatchStatus(binding_cycles_.Begin(), pod, change).Start();
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
