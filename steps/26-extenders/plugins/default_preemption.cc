#include "plugins/default_preemption.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <set>
#include <utility>

#include "extender.h"
#include "framework/diagnosis.h"
#include "minisched/api/pod_preemption.h"
#include "minisched/base/log.h"
#include "minisched/informer/shared_informer_factory.h"
#include "queue/nominator.h"

namespace minisched {
namespace {

Status Result(Code code, const std::string& what) {
  return {code, "preemption: " + what};
}

// Returns the nodes that the pod doesn't fit, but might without some of their
// pods.
Nodes PotentialNodes(const Nodes& nodes, const NodeToStatus& statuses) {
  Nodes found;
  for (const NodeInfo* node : nodes) {
    const Status* status = statuses.Find(node->node().metadata.name);
    if (status && status->code() == Code::kUnschedulable) found.push_back(node);
  }
  return found;
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

Status DefaultPreemption::PostFilter(const CycleState& state, const Pod& pod,
                                     const NodeToStatus& statuses,
                                     NominatingInfo& nominating) {
  const auto newest = handle_.informers.Of<Pod>().store().Get(
      pod.metadata.namespace_name, pod.metadata.name);
  if (!newest || newest->metadata.uid != pod.metadata.uid) {
    return Result(Code::kError,
                  fmt::format("pod \"{}\" not found", pod.metadata.name));
  }
  Status eligible = PodEligibleToPreemptOthers(*newest, statuses);
  if (!eligible.IsSuccess()) return eligible;
  // These filters are trials: a copy of the state reports nothing.
  auto candidates =
      FindCandidates(CycleState(state), *newest,
                     PotentialNodes(handle_.snapshot.List(), statuses));
  if (!candidates) {
    if (candidates.error().IsRejected()) {
      nominating = NominatingInfo::Override("");
    }
    return candidates.error();
  }
  candidates = CallExtenders(*newest, *std::move(candidates));
  if (!candidates) return candidates.error();
  if (candidates->empty()) {
    return Result(Code::kUnschedulable, "no candidate node for preemption");
  }
  const Candidate& best = SelectCandidate(*candidates);
  executor_.ClearNominationsAsync(best, *newest);
  executor_.PrepareCandidateAsync(best, newest);
  nominating = NominatingInfo::Override(best.node_name);
  return Result(
      Code::kSuccess,
      fmt::format("found a potential placement for pod on node {}, preempting "
                  "{} victims",
                  best.node_name, best.victims.size()));
}

Status DefaultPreemption::PodEligibleToPreemptOthers(
    const Pod& pod, const NodeToStatus& statuses) const {
  if (pod.spec.preemption_policy == "Never") {
    return Result(Code::kUnschedulable,
                  "not eligible due to preemptionPolicy=Never.");
  }
  const std::string nominated = handle_.nominator.NominatedNode(pod);
  const NodeInfo* node = handle_.snapshot.Get(nominated);
  if (node == nullptr) return {};
  const Status* status = statuses.Find(nominated);
  if (status && status->code() == Code::kUnschedulableAndUnresolvable) {
    return {};  // what was freed there does not help any more
  }
  const bool waits = std::ranges::any_of(node->pods(), [&](const auto& info) {
    return IsPreemptionAllowed(*info->pod, pod) &&
           PodTerminatingByPreemption(*info->pod);
  });
  if (!waits) return {};
  return Result(Code::kUnschedulable,
                "not eligible due to a terminating pod on the nominated node.");
}

tl::expected<std::vector<Candidate>, Status> DefaultPreemption::FindCandidates(
    const CycleState& state, const Pod& pod, Nodes nodes) const {
  const std::size_t all = handle_.snapshot.List().size();
  ReasonCounts reasons;
  if (nodes.size() < all) {
    reasons["Preemption is not helpful for scheduling"] = all - nodes.size();
  }
  const auto first = static_cast<std::ptrdiff_t>(
      nodes.empty() ? 0 : handle_.random() % nodes.size());
  std::rotate(nodes.begin(), nodes.begin() + first, nodes.end());
  const std::size_t wanted = std::max<std::size_t>(
      nodes.size() * args_.min_candidate_nodes_percentage / 100,
      args_.min_candidate_nodes_absolute);
  const auto& store = handle_.informers.Of<PodDisruptionBudget>().store();
  const DisruptionBudgets budgets([&](const std::string& of_namespace) {
    return store.List(of_namespace);
  });
  std::vector<Candidate> candidates;
  std::set<std::string> errors;
  bool keeps_budgets = false;  // one of the candidates, at least
  for (const NodeInfo* node : nodes) {
    const std::string& name = node->node().metadata.name;
    auto candidate =
        SelectVictimsOnNode(handle_.framework, state, pod, *node, budgets,
                            handle_.nominator.NominatedPodsForNode(name));
    if (!candidate) {
      const Status& why = candidate.error();
      if (!why.IsRejected()) errors.insert(why.Message());
      for (const std::string& reason : why.reasons()) ++reasons[reason];
      continue;
    }
    keeps_budgets |= candidate->pdb_violations == 0;
    candidates.push_back(*std::move(candidate));
    if (keeps_budgets && candidates.size() >= wanted) break;
  }
  if (!candidates.empty()) return candidates;
  if (!errors.empty()) {
    return tl::unexpected(Result(
        Code::kError, errors.size() == 1
                          ? *errors.begin()
                          : fmt::format("[{}]", fmt::join(errors, ", "))));
  }
  return tl::unexpected(Result(Code::kUnschedulable, FitMessage(all, reasons)));
}

tl::expected<std::vector<Candidate>, Status> DefaultPreemption::CallExtenders(
    const Pod& pod, std::vector<Candidate> candidates) const {
  for (const auto& extender : handle_.extenders) {
    if (candidates.empty()) break;
    if (!extender->supports_preemption() || !extender->IsInterested(pod)) {
      continue;
    }
    auto left = extender->ProcessPreemption(pod, candidates, handle_.snapshot);
    if (!left) {
      const Status& error = left.error();
      if (!extender->is_ignorable()) {
        return tl::unexpected(Result(error.code(), error.Message()));
      }
      spdlog::warn("going on without an extender: {}", error.Message());
      continue;
    }
    const auto no_victims = std::ranges::find_if(
        *left, &std::vector<PodPtr>::empty, &Candidate::victims);
    if (no_victims != left->end() && !extender->is_ignorable()) {
      return tl::unexpected(
          Result(Code::kError,
                 fmt::format("expected at least one victim pod on node \"{}\"",
                             no_victims->node_name)));
    }
    std::erase_if(*left, [](const auto& node) { return node.victims.empty(); });
    candidates = *std::move(left);
  }
  return candidates;
}

}  // namespace minisched
