#include "preemption/victims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "minisched/api/pod_preemption.h"

namespace minisched {
namespace {

// Returns what counts against a candidate, in the order in which it counts.
auto HarmOf(const Candidate& candidate) {
  // With 2³¹ more, no priority is negative, so one victim more is always worse.
  std::int64_t sum = 0;
  for (const PodPtr& victim : candidate.victims) {
    sum += PodPriority(*victim) + (std::int64_t{1} << 31);
  }
  // The victims are sorted, so the first one has the highest priority and, of
  // those that have this priority, has run for the longest time.
  const Pod& first = *candidate.victims.front();
  return std::tuple(candidate.pdb_violations, PodPriority(first), sum,
                    candidate.victims.size(),
                    -PodStartTime(first).time_since_epoch());
}

}  // namespace

bool IsPreemptionAllowed(const Pod& pod, const Pod& preemptor) {
  return PodPriority(pod) < PodPriority(preemptor);
}

bool MoreImportantPod(const PodPtr& a, const PodPtr& b) {
  const auto priority = PodPriority(*a) <=> PodPriority(*b);
  return priority > 0 || (priority == 0 && PodStartTime(*a) < PodStartTime(*b));
}

tl::expected<Candidate, Status> SelectVictimsOnNode(
    const Framework& framework, const CycleState& state, const Pod& pod,
    const NodeInfo& node, DisruptionBudgets budgets,
    const std::vector<PodInfoPtr>& nominated) {
  std::vector<PodInfoPtr> potential;
  if (node.lowest_priority() < PodPriority(pod)) {
    for (const PodInfoPtr& info : node.pods()) {
      if (IsPreemptionAllowed(*info->pod, pod)) potential.push_back(info);
    }
  }
  if (potential.empty()) {
    static const Status none(Code::kUnschedulableAndUnresolvable,
                             "No preemption victims found for incoming pod");
    return tl::unexpected(none);
  }
  NodeInfo copy = node;
  CycleState state_copy = state;
  const auto remove = [&](const PodInfo& info) {
    copy.RemovePod(info.pod->metadata.uid);
    framework.RunPreFilterExtensionRemovePod(state_copy, pod, info, copy);
  };
  for (const PodInfoPtr& info : potential) remove(*info);
  const auto filter = [&] {
    return framework.RunFilterPluginsWithNominatedPods(state_copy, pod, copy,
                                                       nominated);
  };
  const Status status = filter();
  if (!status.IsSuccess()) return tl::unexpected(status);

  std::ranges::stable_sort(potential, MoreImportantPod, &PodInfo::pod);
  Candidate candidate{.node_name = node.node().metadata.name};
  const auto reprieve = [&](const PodInfoPtr& info) {
    copy.AddPod(info);
    framework.RunPreFilterExtensionAddPod(state_copy, pod, *info, copy);
    if (filter().IsSuccess()) return true;
    remove(*info);
    candidate.victims.push_back(info->pod);
    return false;
  };
  std::vector<PodInfoPtr> guarded;
  std::vector<PodInfoPtr> others;
  for (const PodInfoPtr& info : potential) {
    (budgets.Take(*info->pod) ? others : guarded).push_back(info);
  }
  for (const PodInfoPtr& info : guarded) {
    if (!reprieve(info)) ++candidate.pdb_violations;
  }
  for (const PodInfoPtr& info : others) reprieve(info);
  std::ranges::stable_sort(candidate.victims, MoreImportantPod);
  if (!candidate.victims.empty()) return candidate;
  const auto error = fmt::format(
      "expected at least one victim pod on node \"{}\"", candidate.node_name);
  return tl::unexpected(Status(Code::kError, error));
}

const Candidate& SelectCandidate(const std::vector<Candidate>& candidates) {
  return *std::ranges::min_element(candidates, {}, HarmOf);
}

}  // namespace minisched
