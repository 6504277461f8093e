#include "preemption/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "framework/waiting_pods.h"
#include "minisched/api/pod_preemption.h"
#include "minisched/base/log.h"
#include "minisched/client/pod_eviction.h"
#include "minisched/events/event_recorder.h"

namespace minisched {

void PreemptionExecutor::PrepareCandidateAsync(const Candidate& candidate,
                                               const PodPtr& preemptor) {
  std::vector<PodPtr> victims;
  std::ranges::copy_if(
      candidate.victims, std::back_inserter(victims),
      [](const PodPtr& pod) { return !pod->metadata.deletion_timestamp; });
  EvictAll(handle_.under_way.Begin(), candidate.node_name, std::move(victims),
           preemptor)
      .Start();
}

Task<> PreemptionExecutor::EvictAll(WaitGroup::Token /*under_way*/,
                                    std::string node,
                                    std::vector<PodPtr> victims,
                                    PodPtr preemptor) {
  std::vector<Task<Eviction>> all;
  for (const PodPtr& victim : victims) {
    all.push_back(PreemptPod(node, victim, preemptor));
  }
  const auto evictions = co_await AllOf(std::move(all));
  const bool failed = std::ranges::count(evictions, Eviction::kFailed) > 0;
  if (failed) handle_.retry(preemptor);
}

Task<PreemptionExecutor::Eviction> PreemptionExecutor::PreemptPod(
    std::string node, PodPtr victim, PodPtr preemptor) {
  auto note = fmt::format("Preempted by pod {} on node {}",
                          preemptor->metadata.uid, node);
  Eviction eviction = Eviction::kBegun;
  if (handle_.waiting_pods.Preempt(victim->metadata.uid, plugin_,
                                   "preempted")) {
    note += " (in kube-scheduler memory).";
  } else {
    eviction = co_await DeletePod(victim, preemptor);
  }
  if (eviction != Eviction::kBegun) co_return eviction;
  spdlog::info("evicted {} from {} for {}", ObjectName(victim->metadata), node,
               ObjectName(preemptor->metadata));
  handle_.recorder.Eventf(GetReference(*victim), GetReference(*preemptor),
                          "Normal", "Preempted", "Preempting", note);
  co_return eviction;
}

Task<PreemptionExecutor::Eviction> PreemptionExecutor::DeletePod(
    PodPtr victim, PodPtr preemptor) {
  const Condition why =
      PreemptionCondition(*victim, preemptor->spec.scheduler_name);
  const auto evict = [&](const Callback<ClientResult<bool>>& done) {
    EvictPodAsync(handle_.client, victim, why, handle_.client.clock().WallNow(),
                  handle_.stop, done);
  };
  const auto deleted = co_await CallbackResult<ClientResult<bool>>(evict);
  if (deleted) co_return *deleted ? Eviction::kBegun : Eviction::kGone;
  if (!deleted.error().As<Cancelled>()) {
    spdlog::warn("failed to evict pod {}: {}", ObjectName(victim->metadata),
                 deleted.error().what());
  }
  co_return Eviction::kFailed;
}

}  // namespace minisched
