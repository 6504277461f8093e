#include "preemption/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "cache/cache.h"
#include "framework/pods_in_pre_bind.h"
#include "framework/waiting_pods.h"
#include "minisched/api/pod_preemption.h"
#include "minisched/base/executor.h"
#include "minisched/base/log.h"
#include "minisched/client/pod_eviction.h"
#include "minisched/client/pod_status.h"
#include "minisched/events/event_recorder.h"
#include "queue/nominator.h"

namespace minisched {

void PreemptionExecutor::PrepareCandidateAsync(const Candidate& candidate,
                                               const PodPtr& preemptor) {
  std::vector<PodPtr> victims;
  std::ranges::copy_if(
      candidate.victims, std::back_inserter(victims),
      [](const PodPtr& pod) { return !pod->metadata.deletion_timestamp; });
  if (victims.empty()) return;
  {
    MutexLock lock(mu_);
    std::erase_if(victims_, [this](const auto& preemption) {
      return !AnyStays(preemption.second);
    });
    victims_[preemptor->metadata.uid] = victims;
  }
  EvictAll(handle_.under_way.Begin(), candidate.node_name, std::move(victims),
           preemptor)
      .Start();
}

void PreemptionExecutor::ClearNominationsAsync(const Candidate& candidate,
                                               const Pod& preemptor) {
  const auto ends = [](const PodPtr& victim) {
    return victim->metadata.deletion_timestamp.has_value();
  };
  if (std::ranges::all_of(candidate.victims, ends)) return;
  const std::string& node = candidate.node_name;
  for (const PodInfoPtr& info : handle_.nominator.NominatedPodsForNode(node)) {
    if (!IsPreemptionAllowed(*info->pod, preemptor)) continue;
    // The status may be older than the nomination.
    auto pod = std::make_shared<Pod>(*info->pod);
    pod->status.nominated_node_name = node;
    ClearNomination(handle_.under_way.Begin(), std::move(pod)).Start();
  }
}

Task<> PreemptionExecutor::ClearNomination(WaitGroup::Token /*under_way*/,
                                           PodPtr pod) {
  const auto clear = [&](const Callback<ClientResult<bool>>& done) {
    PatchPodStatusAsync(handle_.client, pod, {.nominated_node_name = ""},
                        handle_.client.clock().WallNow(), handle_.stop, done);
  };
  const auto cleared = co_await CallbackResult<ClientResult<bool>>(clear);
  if (!cleared && !cleared.error().As<Cancelled>()) {
    spdlog::warn("failed to clear the nominated node of pod {}: {}",
                 ObjectName(pod->metadata), cleared.error().what());
  }
}

bool PreemptionExecutor::IsPodRunningPreemption(const std::string& uid) const {
  MutexLock lock(mu_);
  const auto preemption = victims_.find(uid);
  return preemption != victims_.end() && AnyStays(preemption->second);
}

bool PreemptionExecutor::AnyStays(const std::vector<PodPtr>& victims) const {
  return std::ranges::any_of(victims, [this](const PodPtr& victim) {
    const PodPtr now = handle_.cache.GetPod(*victim);
    return now && !PodTerminatingByPreemption(*now);
  });
}

Task<> PreemptionExecutor::EvictAll(WaitGroup::Token /*under_way*/,
                                    std::string node,
                                    std::vector<PodPtr> victims,
                                    PodPtr preemptor) {
  const PodPtr last = victims.back();
  victims.pop_back();
  std::vector<Task<Eviction>> others;
  for (const PodPtr& victim : victims) {
    others.push_back(PreemptPod(node, victim, preemptor));
  }
  const auto evictions = co_await AllOf(std::move(others));
  bool failed = std::ranges::count(evictions, Eviction::kFailed) > 0;
  if (!failed) {
    failed = co_await PreemptPod(node, last, preemptor) == Eviction::kFailed;
  }
  if (!failed) co_return;
  Forget(last, preemptor);
  handle_.retry(preemptor);
}

Task<PreemptionExecutor::Eviction> PreemptionExecutor::PreemptPod(
    std::string node, PodPtr victim, PodPtr preemptor) {
  auto note = fmt::format("Preempted by pod {} on node {}",
                          preemptor->metadata.uid, node);
  Eviction eviction = Eviction::kBegun;
  const bool in_memory = co_await PreemptInMemory(victim);
  if (in_memory) {
    note += " (in kube-scheduler memory).";
    // A later attempt of the victim may hold other resources.
    Forget(victim, preemptor);
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

Task<bool> PreemptionExecutor::PreemptInMemory(PodPtr victim) {
  const std::string& uid = victim->metadata.uid;
  if (handle_.waiting_pods.Preempt(uid, plugin_, "preempted")) {
    // The victim's binding cycle runs before this task.
    const auto turn = [&](const Callback<void>& done) {
      handle_.executor.Post(done);
    };
    co_await CallbackResult<void>(turn);
    co_return true;
  }
  bool cancelled = false;
  const auto cancel = [&](const Callback<void>& done) {
    cancelled = handle_.pods_in_pre_bind.CancelPod(
        uid, fmt::format("preempted by {}", plugin_), done);
    if (!cancelled) done();
  };
  co_await CallbackResult<void>(cancel);
  co_return cancelled;
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
  Forget(victim, preemptor);
  co_return Eviction::kFailed;
}

void PreemptionExecutor::Forget(const PodPtr& victim, const PodPtr& preemptor) {
  MutexLock lock(mu_);
  std::erase(victims_[preemptor->metadata.uid], victim);
}

}  // namespace minisched
