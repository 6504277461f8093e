#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "framework/handle.h"
#include "framework/queued_pod_info.h"
#include "minisched/base/task.h"
#include "minisched/base/wait_group.h"
#include "preemption/victims.h"

namespace minisched {

// Removes the victims of preemptions from the cluster, without blocking.
// Thread-safe. Follows kube-scheduler's framework/preemption/executor.go.
class PreemptionExecutor {
 public:
  // `plugin` is the name of the plugin that preempts. It and what `handle`
  // refers to must outlive the executor.
  PreemptionExecutor(const Handle& handle, std::string_view plugin)
      : handle_(handle), plugin_(plugin) {}

  // Begins to evict the candidate's victims, except those that are already
  // being deleted. If an eviction fails, tries the preemptor again after its
  // backoff.
  void PrepareCandidateAsync(const Candidate& candidate,
                             const PodPtr& preemptor);

 private:
  // kGone: the pod had been deleted before.
  enum class Eviction { kBegun, kGone, kFailed };

  Task<> EvictAll(WaitGroup::Token under_way, std::string node,
                  std::vector<PodPtr> victims, PodPtr preemptor);
  // Ends the victim's wait on Permit, or deletes the pod.
  Task<Eviction> PreemptPod(std::string node, PodPtr victim, PodPtr preemptor);
  Task<Eviction> DeletePod(PodPtr victim, PodPtr preemptor);

  const Handle handle_;
  const std::string_view plugin_;
};

}  // namespace minisched
