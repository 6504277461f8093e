// What happens to a pod after a node was selected for it. Follows bindingCycle
// of kube-scheduler's schedule_one.go.
#include "minisched/base/log.h"
#include "scheduler.h"

namespace minisched {

void Scheduler::RunBindingCycle(PodAttempt& attempt,
                                const std::stop_token& stop) {
  const Pod& pod = *attempt.info.pod;
  const Status bound = Bind(pod, attempt.host, stop);
  attempt.state.report().Ran("Bind", "", bound);
  if (!bound.IsSuccess()) {
    cache_.ForgetPod(pod);
    HandleSchedulingFailure(attempt, {.status = bound}, stop);
    return;
  }
  spdlog::info("bound {} to {}", ObjectName(pod.metadata), attempt.host);
  metrics_.PodScheduled(pod.spec.scheduler_name, clock_.Now() - attempt.start);
  metrics_.PodSchedulingAttempts(attempt.info.attempts);
  attempt.state.report().Bound();
  trace_.Moved(pod, Place::kBound,
               {.attempts = attempt.info.attempts, .node = attempt.host});
  queue_.Done(pod.metadata.uid);
  recorder_.Eventf(GetReference(pod), {}, "Normal", "Scheduled", "Binding",
                   fmt::format("Successfully assigned {} to {}",
                               ObjectName(pod.metadata), attempt.host));
}

Status Scheduler::Bind(const Pod& pod, const std::string& host,
                       const std::stop_token& stop) {
  Binding binding;
  binding.metadata.namespace_name = pod.metadata.namespace_name;
  binding.metadata.name = pod.metadata.name;
  // The uid keeps a newer pod of the same name from being bound.
  binding.metadata.uid = pod.metadata.uid;
  binding.target.kind = "Node";
  binding.target.name = host;
  try {
    client_.Bind(binding, stop);
  } catch (const std::exception& error) {
    return {Code::kError, error.what()};
  }
  return {};
}

}  // namespace minisched
