#include "plugins/node_affinity.h"

#include "minisched/api/parse_error.h"
#include "plugins/normalize_score.h"

namespace minisched {
namespace {

// Returns the node names that satisfy all In requirements of the term for
// metadata.name: none if they conflict. Returns nullopt if the term has no such
// requirement, so that it can match any node.
std::optional<std::set<std::string>> NamedNodes(const NodeSelectorTerm& term) {
  std::optional<std::set<std::string>> names;
  for (const NodeSelectorRequirement& field : term.match_fields) {
    if (field.key != "metadata.name" || field.op != "In") continue;
    const std::set<std::string> these(field.values.begin(), field.values.end());
    if (!names) {
      names = these;
    } else {
      std::erase_if(*names, [&](const auto& n) { return !these.contains(n); });
    }
  }
  return names;
}

// Returns true if the node matches the terms, or if there are none.
bool Matches(const std::optional<NodeSelectorMatcher>& terms,
             const Node& node) {
  return !terms || terms->Matches(node);
}

QueueingHint AfterNodeChange(const std::optional<NodeSelectorMatcher>& added,
                             const Pod& pod, const ClusterChange& change) {
  const RequiredNodeAffinity required(pod);
  // Upstream doesn't match the old node with the added terms, so a pod may miss
  // a node that begins to match them.
  const auto matches = [&](const Node& node) {
    return Matches(added, node) && required.Matches(node);
  };
  const auto old = change.Old<Node>();
  return QueueIf((!old || !matches(*old)) && matches(*change.New<Node>()));
}

}  // namespace

NodeAffinity::NodeAffinity(const Args& args)
    : added_preferred_(
          args.added_affinity.value_or(Affinity::NodeAffinity()).preferred) {
  if (args.added_affinity && args.added_affinity->required) {
    added_required_.emplace(*args.added_affinity->required);
  }
}

std::vector<ClusterEventWithHint> NodeAffinity::EventsToRegister() const {
  return {{{EventResource::kNode, action::kAdd | action::kUpdateNodeLabel},
           [this](const Pod& pod, const ClusterChange& change) {
             return AfterNodeChange(added_required_, pod, change);
           }}};
}

Status NodeAffinity::PreFilter(CycleState& state, const Pod& pod,
                               const Nodes& /*nodes*/,
                               PreFilterResult& result) const {
  const auto& required = pod.spec.affinity.node_affinity.required;
  if (!required && !added_required_ && pod.spec.node_selector.empty()) {
    return Code::kSkip;
  }
  state.Write(RequiredNodeAffinity(pod));
  if (!required || required->node_selector_terms.empty()) return {};
  std::set<std::string> all;
  for (const NodeSelectorTerm& term : required->node_selector_terms) {
    auto names = NamedNodes(term);
    if (!names) return {};
    all.merge(*names);
  }
  if (all.empty()) {
    return {Code::kUnschedulableAndUnresolvable, "pod affinity terms conflict"};
  }
  result.node_names = std::move(all);
  return {};
}

Status NodeAffinity::Filter(const CycleState& state, const Pod& /*pod*/,
                            const NodeInfo& node) const {
  if (!Matches(added_required_, node.node())) {
    return {Code::kUnschedulableAndUnresolvable,
            "node(s) didn't match scheduler-enforced node affinity"};
  }
  if (state.Read<RequiredNodeAffinity>().Matches(node.node())) return {};
  return {Code::kUnschedulableAndUnresolvable,
          "node(s) didn't match Pod's node affinity/selector"};
}

Status NodeAffinity::PreScore(CycleState& state, const Pod& pod,
                              const Nodes& /*nodes*/) const {
  try {
    PreferredSchedulingTerms terms(pod);
    if (terms.empty() && added_preferred_.empty()) return Code::kSkip;
    state.Write(std::move(terms));
  } catch (const ParseError& error) {
    return {Code::kError, error.what()};
  }
  return {};
}

Status NodeAffinity::Score(const CycleState& state, const Pod& /*pod*/,
                           const NodeInfo& node, std::int64_t& score) const {
  score = added_preferred_.Score(node.node()) +
          state.Read<PreferredSchedulingTerms>().Score(node.node());
  return {};
}

Status NodeAffinity::NormalizeScore(const CycleState& /*state*/,
                                    const Pod& /*pod*/,
                                    std::vector<NodeScore>& scores) const {
  DefaultNormalizeScore(/*reverse=*/false, scores);
  return {};
}

}  // namespace minisched
