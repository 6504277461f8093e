#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "framework/handle.h"
#include "framework/plugin.h"
#include "minisched/config/plugin_args.h"
#include "preemption/executor.h"
#include "preemption/victims.h"

namespace minisched {

// Makes room for a pod that fits no node: evicts pods of lower priority from
// one node. The pod does not wait for them in activeQ. Their deletion wakes it,
// like any pod that was rejected. Follows plugins/defaultpreemption.
class DefaultPreemption final : public PreEnqueuePlugin,
                                public PostFilterPlugin {
 public:
  using Args = DefaultPreemptionArgs;
  // What `handle` refers to must outlive the plugin.
  explicit DefaultPreemption(const Handle& handle, const Args& args = {})
      : handle_(handle), args_(args), executor_(handle, Name()) {}

  std::string_view Name() const override { return "DefaultPreemption"; }
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

  // Gates a pod whose own preemption is under way.
  Status PreEnqueue(const Pod& pod) const override;
  // Begins to evict the victims on the best node, and nominates the node.
  Status PostFilter(const CycleState& state, const Pod& pod,
                    const NodeToStatus& statuses,
                    NominatingInfo& nominating) override;

 private:
  // Returns success if the pod may preempt others, or else why not.
  Status PodEligibleToPreemptOthers(const Pod& pod,
                                    const NodeToStatus& statuses) const;
  // Tries the nodes, beginning at a random one, and returns the candidates.
  // Stops when there are enough of them by the arguments, but not before a
  // candidate keeps all budgets. If there is no candidate, returns why.
  tl::expected<std::vector<Candidate>, Status> FindCandidates(
      const CycleState& state, const Pod& pod, Nodes nodes) const;
  // Returns the candidates that the extenders allow.
  tl::expected<std::vector<Candidate>, Status> CallExtenders(
      const Pod& pod, std::vector<Candidate> candidates) const;

  const Handle handle_;
  const Args args_;
  PreemptionExecutor executor_;
};

}  // namespace minisched
