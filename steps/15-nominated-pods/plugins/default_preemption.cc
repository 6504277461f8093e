#include "plugins/default_preemption.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <random>
#include <utility>

#include "framework/diagnosis.h"
#include "minisched/api/conditions.h"
#include "minisched/informer/shared_informer_factory.h"
#include "queue/nominator.h"

namespace minisched {
namespace {

constexpr std::size_t kMinCandidateNodesPercentage = 10;
constexpr std::size_t kMinCandidateNodesAbsolute = 100;

Status Failed(Code code, const std::string& why) {
  return {code, "preemption: " + why};
}

// Returns true if the pod is being deleted because it was preempted.
bool PodTerminatingByPreemption(const Pod& pod) {
  const Condition* condition =
      FindCondition(pod.status.conditions, "DisruptionTarget");
  return pod.metadata.deletion_timestamp && condition &&
         condition->status == "True" &&
         condition->reason == "PreemptionByScheduler";
}

}  // namespace

std::vector<ClusterEventWithHint> DefaultPreemption::EventsToRegister() const {
  // Only for pods that PreEnqueue has gated, so that no other plugin holds
  // them: what may help a pod that the other plugins have rejected.
  return {{{EventResource::kPod, action::kDelete | action::kUpdatePodScaleDown |
                                     action::kUpdatePodToleration}},
          {{EventResource::kNode,
            action::kAdd | action::kUpdateNodeAllocatable |
                action::kUpdateNodeLabel | action::kUpdateNodeTaint}}};
}

Status DefaultPreemption::PreEnqueue(const Pod& pod) const {
  if (!executor_.IsPodRunningPreemption(pod.metadata.uid)) return {};
  return {Code::kUnschedulableAndUnresolvable,
          "waiting for the preemption for this pod to be finished"};
}

Status DefaultPreemption::PostFilter(
    const CycleState& state, const Pod& pod, const NodeToStatus& statuses,
    std::optional<std::string>& nominated_node) const {
  const auto newest = handle_.informers->Of<Pod>().store().Get(
      pod.metadata.namespace_name, pod.metadata.name);
  if (!newest || newest->metadata.uid != pod.metadata.uid) {
    return Failed(Code::kError,
                  fmt::format("pod \"{}\" not found", pod.metadata.name));
  }
  Status eligible = PodEligibleToPreemptOthers(*newest, statuses);
  if (!eligible.IsSuccess()) return eligible;
  NodeToStatus tried;
  const auto candidates = FindCandidates(state, *newest, statuses, tried);
  if (!candidates.empty()) {
    const Candidate& best = SelectCandidate(candidates);
    executor_.ClearNominationsAsync(best.node_name, *newest);
    executor_.PrepareCandidateAsync(best, newest);
    nominated_node = best.node_name;
    return {};
  }
  for (const auto& [node, status] : tried) {
    if (!status.IsRejected()) return Failed(status.code(), status.Message());
  }
  tried.SetAbsentNodesStatus({Code::kUnschedulableAndUnresolvable,
                              "Preemption is not helpful for scheduling"});
  nominated_node = "";
  return Failed(Code::kUnschedulable, FitError(handle_.snapshot.List().size(),
                                               {.node_to_status = tried}));
}

Status DefaultPreemption::PodEligibleToPreemptOthers(
    const Pod& pod, const NodeToStatus& statuses) const {
  if (pod.spec.preemption_policy == "Never") {
    return Failed(Code::kUnschedulable,
                  "not eligible due to preemptionPolicy=Never.");
  }
  const std::string nominated = handle_.nominator->NominatedNode(pod);
  const NodeInfo* node = handle_.snapshot.Get(nominated);
  if (node == nullptr) return {};
  const Status* status = statuses.Find(nominated);
  if (status && status->code() == Code::kUnschedulableAndUnresolvable) {
    return {};  // the room that was made there does not help any more
  }
  const bool waits = std::ranges::any_of(node->pods(), [&](const auto& info) {
    return IsPreemptionAllowed(*info->pod, pod) &&
           PodTerminatingByPreemption(*info->pod);
  });
  if (!waits) return {};
  return Failed(Code::kUnschedulable,
                "not eligible due to a terminating pod on the nominated node.");
}

std::vector<Candidate> DefaultPreemption::FindCandidates(
    const CycleState& state, const Pod& pod, const NodeToStatus& statuses,
    NodeToStatus& tried) const {
  Nodes nodes;
  for (const NodeInfo* node : handle_.snapshot.List()) {
    const Status* status = statuses.Find(node->node().metadata.name);
    if (status && status->code() == Code::kUnschedulable) nodes.push_back(node);
  }
  if (nodes.empty()) return {};
  const std::size_t wanted =
      std::max(nodes.size() * kMinCandidateNodesPercentage / 100,
               kMinCandidateNodesAbsolute);
  std::uniform_int_distribution<std::size_t> any(0, nodes.size() - 1);
  std::ranges::rotate(nodes, nodes.begin() + any(*handle_.random));
  const DisruptionBudgets budgets(
      handle_.informers->Of<PodDisruptionBudget>().store().List());
  std::vector<Candidate> candidates;
  bool keeps_budgets = false;  // one of the candidates, at least
  for (const NodeInfo* node : nodes) {
    const std::string& name = node->node().metadata.name;
    auto candidate =
        SelectVictimsOnNode(*handle_.framework, state, pod, *node, budgets,
                            handle_.nominator->NominatedPodsForNode(name));
    if (!candidate) {
      tried.Set(name, candidate.error());
      continue;
    }
    keeps_budgets |= candidate->pdb_violations == 0;
    candidates.push_back(*std::move(candidate));
    if (keeps_budgets && candidates.size() >= wanted) break;
  }
  return candidates;
}

}  // namespace minisched
