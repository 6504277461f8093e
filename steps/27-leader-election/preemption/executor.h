#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "framework/handle.h"
#include "framework/queued_pod_info.h"
#include "minisched/base/mutex.h"
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
  // being deleted. Evicts the last one when the evictions of the others have
  // begun. If one fails, leaves the last one alone and tries the preemptor
  // again after its backoff.
  void PrepareCandidateAsync(const Candidate& candidate,
                             const PodPtr& preemptor) EXCLUDES(mu_);

  // Begins to clear the nominations to the node of pods that are less important
  // than the preemptor, unless all victims are already being deleted. When an
  // update shows that this is done, the queue moves the pod, because it may fit
  // another node.
  void ClearNominationsAsync(const Candidate& candidate, const Pod& preemptor);

  // Returns true if the preemptor has to wait, because the cache has a victim
  // and doesn't yet show that this scheduler deletes it. Can be called under
  // the queue's lock.
  bool IsPodRunningPreemption(const std::string& uid) const EXCLUDES(mu_);

 private:
  // kGone: the pod had been deleted before.
  enum class Eviction { kBegun, kGone, kFailed };

  Task<> ClearNomination(WaitGroup::Token under_way, PodPtr pod);
  Task<> EvictAll(WaitGroup::Token under_way, std::string node,
                  std::vector<PodPtr> victims, PodPtr preemptor);
  // Ends the victim's wait on Permit or its PreBind, or deletes the pod.
  Task<Eviction> PreemptPod(std::string node, PodPtr victim, PodPtr preemptor);
  // Ends the victim's wait on Permit or its PreBind, and waits until the victim
  // has given back its resources. Returns false if it doesn't wait.
  Task<bool> PreemptInMemory(PodPtr victim);
  Task<Eviction> DeletePod(PodPtr victim, PodPtr preemptor);
  bool AnyStays(const std::vector<PodPtr>& victims) const;
  // The preemptor no longer waits for the victim.
  void Forget(const PodPtr& victim, const PodPtr& preemptor) EXCLUDES(mu_);

  const Handle handle_;
  const std::string_view plugin_;
  // Lock order: the queue's lock, mu_, the cache's lock. Don't call `retry`
  // under mu_.
  mutable Mutex mu_;
  // By the preemptor's uid. Victims that don't stay make no difference, so they
  // are removed now and then.
  std::map<std::string, std::vector<PodPtr>> victims_ GUARDED_BY(mu_);
};

}  // namespace minisched
