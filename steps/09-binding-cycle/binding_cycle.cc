// What happens to a pod after a node was selected for it. No thread waits for
// the answers: each function passes the next one on as a callback. Follows
// bindingCycle of kube-scheduler's schedule_one.go.
#include <memory>
#include <utility>

#include "minisched/app/logging.h"
#include "scheduler.h"

namespace minisched {

void Scheduler::RunBindingCycle(const std::shared_ptr<BindingCycle>& cycle) {
  const Pod& pod = *cycle->info.pod;
  // PreBind and Bind can only fail with an error, and after an error the queue
  // doesn't look at events. So it need not keep them for this pod any longer.
  queue_.Done(pod.metadata.uid);
  const Framework& framework = FrameworkForPod(pod);
  framework.RunPreBindPlugins(
      cycle->state, pod, cycle->host, requests_.get_token(),
      [this, cycle, &framework](const Status& prepared) {
        if (!prepared.IsSuccess()) {
          return HandleBindingCycleError(*cycle, "PreBind", prepared);
        }
        framework.RunBindPlugins(
            cycle->state, *cycle->info.pod, cycle->host, requests_.get_token(),
            [this, cycle](const Status& bound) {
              if (!bound.IsSuccess()) {
                return HandleBindingCycleError(*cycle, "Bind", bound);
              }
              FinishBindingCycle(*cycle);
            });
      });
}

void Scheduler::FinishBindingCycle(BindingCycle& cycle) {
  const Pod& pod = *cycle.info.pod;
  spdlog::info("bound {} to {}", ObjectName(pod.metadata), cycle.host);
  metrics_.PodScheduled(clock_.Now() - cycle.start);
  metrics_.PodSchedulingAttempts(cycle.info.attempts);
  trace_.Tried([&] { return DescribeBinding(cycle, "Bind", {}); });
  trace_.Moved(pod, Place::kBound,
               {.attempts = cycle.info.attempts, .node = cycle.host});
  recorder_.Eventf(GetReference(pod), {}, "Normal", "Scheduled", "Binding",
                   fmt::format("Successfully assigned {} to {}",
                               ObjectName(pod.metadata), cycle.host));
  FrameworkForPod(pod).RunPostBindPlugins(cycle.state, pod, cycle.host);
}

void Scheduler::HandleBindingCycleError(BindingCycle& cycle,
                                        std::string_view point,
                                        const Status& status) {
  // A Binding that was cancelled is no failure: the next scheduler tries the
  // pod.
  if (requests_.stop_requested()) return;
  trace_.Tried([&] { return DescribeBinding(cycle, point, status); });
  // Other pods may have been rejected because this pod took the room.
  if (const PodPtr forgotten = UnreserveAndForget(cycle)) {
    queue_.MoveAllToActiveOrBackoffQueue(
        {{EventResource::kAssignedPod, action::kDelete}, forgotten, {}});
  }
  HandleSchedulingFailure(cycle.info, {.status = status}, cycle.start);
}

PodPtr Scheduler::UnreserveAndForget(BindingCycle& cycle) {
  const Pod& pod = *cycle.info.pod;
  FrameworkForPod(pod).RunReservePluginsUnreserve(cycle.state, pod, cycle.host);
  return cache_.ForgetPod(pod);
}

}  // namespace minisched
