#include "plugins/pod_topology_spread.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "minisched/api/parse_error.h"
#include "plugins/default_selector.h"
#include "plugins/spread_constraint.h"
#include "plugins/spread_counts.h"
#include "plugins/spread_score.h"

namespace minisched {
namespace {

// Returns true if the other pod is in the namespace of `pod`, and on a node or
// nominated to one, so that it may count for `pod`.
bool IsInvolved(const Pod& other, const Pod& pod) {
  const bool has_node = !other.spec.node_name.empty() ||
                        !other.status.nominated_node_name.empty();
  return has_node &&
         other.metadata.namespace_name == pod.metadata.namespace_name;
}

bool MayHelp(const Pod& old, const Pod& now,
             const SpreadConstraints& constraints) {
  return std::ranges::any_of(constraints, [&](const SpreadConstraint& c) {
    return c.selector.Matches(old.metadata.labels) !=
           c.selector.Matches(now.metadata.labels);
  });
}

bool MayHelp(const Node& old, const Node& now,
             const SpreadConstraints& constraints) {
  const bool counts = HasTopologyKeys(now, constraints);
  if (counts != HasTopologyKeys(old, constraints)) return true;
  if (!counts) return false;
  return old.spec.taints != now.spec.taints ||
         std::ranges::any_of(constraints, [&](const SpreadConstraint& c) {
           return old.metadata.labels.at(c.topology_key) !=
                  now.metadata.labels.at(c.topology_key);
         });
}

QueueingHint AfterAssignedPodChange(const PodTopologySpread& plugin,
                                    const Pod& pod,
                                    const ClusterChange& change) {
  const auto old = change.Old<Pod>();
  const auto now = change.New<Pod>();
  if (old && !IsInvolved(*old, pod)) return QueueingHint::kSkip;
  if (now && !IsInvolved(*now, pod)) return QueueingHint::kSkip;
  const SpreadConstraints constraints = plugin.ConstraintsOf(pod);
  if (old && now) return QueueIf(MayHelp(*old, *now, constraints));
  const Labels& labels = (now ? now : old)->metadata.labels;
  return QueueIf(std::ranges::any_of(constraints, [&](const auto& constraint) {
    return constraint.selector.Matches(labels);
  }));
}

QueueingHint AfterTargetPodChange(const PodTopologySpread& plugin,
                                  const Pod& pod, const ClusterChange& change) {
  const auto old = change.Old<Pod>();
  const auto now = change.New<Pod>();
  const SpreadConstraints constraints = plugin.ConstraintsOf(pod);
  const bool tolerates_more =
      now->spec.tolerations != old->spec.tolerations &&
      std::ranges::any_of(constraints, &SpreadConstraint::honors_taints);
  return QueueIf(tolerates_more || MayHelp(*old, *now, constraints));
}

QueueingHint AfterDomainChange(const PodTopologySpread& plugin, const Pod& pod,
                               const ClusterChange& change) {
  const auto old = change.Old<Node>();
  const auto now = change.New<Node>();
  const SpreadConstraints constraints = plugin.ConstraintsOf(pod);
  if (old && now) return QueueIf(MayHelp(*old, *now, constraints));
  return QueueIf(HasTopologyKeys(now ? *now : *old, constraints));
}

using HintOfPlugin = QueueingHint (*)(const PodTopologySpread& plugin,
                                      const Pod& pod,
                                      const ClusterChange& change);

// Returns a hint that returns kQueue if `hint` throws ParseError.
QueueingHintFn QueueIfMalformed(const PodTopologySpread& plugin,
                                HintOfPlugin hint) {
  return [&plugin, hint](const Pod& pod, const ClusterChange& change) {
    try {
      return hint(plugin, pod, change);
    } catch (const ParseError&) {
      return QueueingHint::kQueue;
    }
  };
}

std::vector<TopologySpreadConstraint> SystemDefaultConstraints() {
  return {{.max_skew = 3,
           .topology_key = kHostname,
           .when_unsatisfiable = "ScheduleAnyway"},
          {.max_skew = 5,
           .topology_key = "topology.kubernetes.io/zone",
           .when_unsatisfiable = "ScheduleAnyway"}};
}

}  // namespace

PodTopologySpread::PodTopologySpread(const Handle& handle, const Args& args)
    : handle_(handle),
      system_defaulted_(args.defaulting_type == "System"),
      default_constraints_(system_defaulted_ ? SystemDefaultConstraints()
                                             : args.default_constraints) {}

std::vector<ClusterEventWithHint> PodTopologySpread::EventsToRegister() const {
  return {{{EventResource::kAssignedPod,
            action::kAdd | action::kDelete | action::kUpdatePodLabel},
           QueueIfMalformed(*this, AfterAssignedPodChange)},
          {{EventResource::kTargetPod,
            action::kUpdatePodLabel | action::kUpdatePodToleration},
           QueueIfMalformed(*this, AfterTargetPodChange)},
          {{EventResource::kNode, action::kAdd | action::kDelete |
                                      action::kUpdateNodeLabel |
                                      action::kUpdateNodeTaint},
           QueueIfMalformed(*this, AfterDomainChange)}};
}

Status PodTopologySpread::PreFilter(CycleState& state, const Pod& pod,
                                    const Nodes& nodes,
                                    PreFilterResult& /*result*/) const {
  try {
    SpreadConstraints constraints = ConstraintsOf(pod);
    if (constraints.empty()) return Code::kSkip;
    state.Write(SpreadCounts(pod, std::move(constraints), nodes));
  } catch (const ParseError& error) {
    return {Code::kError,
            fmt::format("get constraints from pod: obtaining pod's hard "
                        "topology spread constraints: {}",
                        error.what())};
  }
  return {};
}

void PodTopologySpread::AddPod(CycleState& state, const Pod& pod,
                               const PodInfo& added,
                               const NodeInfo& node) const {
  state.Read<SpreadCounts>().Update(pod, *added.pod, node.node(), 1);
}

void PodTopologySpread::RemovePod(CycleState& state, const Pod& pod,
                                  const PodInfo& removed,
                                  const NodeInfo& node) const {
  state.Read<SpreadCounts>().Update(pod, *removed.pod, node.node(), -1);
}

Status PodTopologySpread::Filter(const CycleState& state, const Pod& pod,
                                 const NodeInfo& node) const {
  return state.Read<SpreadCounts>().Check(pod, node.node());
}

Status PodTopologySpread::PreScore(CycleState& state, const Pod& pod,
                                   const Nodes& nodes) const {
  // Nodes often have a hostname but no zone. The system's default constraints
  // score such nodes, too.
  const bool require_all =
      !pod.spec.topology_spread_constraints.empty() || !system_defaulted_;
  try {
    SpreadConstraints constraints = ConstraintsOf(pod, "ScheduleAnyway");
    if (constraints.empty()) return Code::kSkip;
    state.Write(SpreadScore(pod, std::move(constraints), require_all, nodes,
                            handle_.snapshot.List()));
  } catch (const ParseError& error) {
    return {Code::kError,
            fmt::format("calculating preScoreState: obtaining pod's soft "
                        "topology spread constraints: {}",
                        error.what())};
  }
  return {};
}

SpreadConstraints PodTopologySpread::ConstraintsOf(
    const Pod& pod, std::string_view when_unsatisfiable) const {
  if (!pod.spec.topology_spread_constraints.empty()) {
    return GetSpreadConstraints(pod, when_unsatisfiable);
  }
  SpreadConstraints constraints = GetSpreadConstraints(
      default_constraints_, pod.metadata.labels, when_unsatisfiable);
  if (constraints.empty()) return {};
  const Selector selector = DefaultSelector(pod, handle_.informers);
  if (selector.Empty()) return {};
  for (SpreadConstraint& constraint : constraints) {
    constraint.selector = selector;
  }
  return constraints;
}

Status PodTopologySpread::Score(const CycleState& state, const Pod& pod,
                                const NodeInfo& node,
                                std::int64_t& score) const {
  score = state.Read<SpreadScore>().Score(pod, node);
  return {};
}

Status PodTopologySpread::NormalizeScore(const CycleState& state,
                                         const Pod& /*pod*/,
                                         std::vector<NodeScore>& scores) const {
  const auto& spread = state.Read<SpreadScore>();
  std::int64_t min = std::numeric_limits<std::int64_t>::max();
  std::int64_t max = 0;
  for (const NodeScore& each : scores) {
    if (spread.Ignores(each.node->node())) continue;
    min = std::min(min, each.score);
    max = std::max(max, each.score);
  }
  for (NodeScore& each : scores) {
    if (spread.Ignores(each.node->node())) {
      each.score = 0;
    } else if (max == 0) {
      each.score = kMaxNodeScore;
    } else {
      each.score = kMaxNodeScore * (max + min - each.score) / max;
    }
  }
  return {};
}

}  // namespace minisched
