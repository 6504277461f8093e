#include "plugins/inter_pod_affinity.h"

#include <algorithm>
#include <utility>

#include "minisched/api/namespace.h"
#include "minisched/informer/shared_informer_factory.h"
#include "plugins/affinity_counts.h"
#include "plugins/affinity_points.h"

namespace minisched {
namespace {

// Returns true if the pod is on a node or nominated to one.
bool HasNode(const Pod& pod) {
  return !pod.spec.node_name.empty() || !pod.status.nominated_node_name.empty();
}

// Returns true if the other pod now matches the affinity terms of `pod`, or if
// it no longer does and `pod` may be the first of its group.
bool MayHelpAffinity(const std::vector<AffinityTerm>& terms, const Pod& pod,
                     const Pod* old, const Pod* now) {
  const bool matched = old && MatchesAll(terms, *old);
  const bool matches = now && MatchesAll(terms, *now);
  if (!matched) return matches;               // a match has come
  return !matches && MatchesAll(terms, pod);  // `pod` may be the first now
}

// Returns true if a term matches the pod. The namespaces must be resolved.
bool MatchesAny(const std::vector<AffinityTerm>& terms, const Pod& pod) {
  return std::ranges::any_of(terms, [&](const AffinityTerm& term) {
    return term.Matches(pod, kNamespacesResolved);
  });
}

// Returns the value of the label, or null.
const std::string* Find(const Labels& labels, const std::string& key) {
  const auto label = labels.find(key);
  return label == labels.end() ? nullptr : &label->second;
}

}  // namespace

std::vector<ClusterEventWithHint> InterPodAffinity::EventsToRegister() const {
  return {{{EventResource::kAssignedPod,
            action::kAdd | action::kUpdatePodLabel | action::kDelete},
           [this](const Pod& pod, const ClusterChange& change) {
             return AfterPodChange(pod, change);
           }},
          // Other pods' rules may no longer match the pod.
          {{EventResource::kTargetPod, action::kUpdatePodLabel}},
          {{EventResource::kNode, action::kAdd | action::kUpdateNodeLabel},
           [this](const Pod& pod, const ClusterChange& change) {
             return AfterNodeChange(pod, change);
           }}};
}

QueueingHint InterPodAffinity::AfterPodChange(
    const Pod& pod, const ClusterChange& change) const {
  const auto old = change.Old<Pod>();
  const auto now = change.New<Pod>();
  if (!HasNode(now ? *now : *old)) return QueueingHint::kSkip;
  const AffinityTerms terms = TermsOf(pod);
  if (MayHelpAffinity(terms.required_affinity, pod, old.get(), now.get())) {
    return QueueingHint::kQueue;
  }
  if (!old) return QueueingHint::kSkip;
  const std::vector<AffinityTerm>& anti = terms.required_anti_affinity;
  if (MatchesAny(anti, *old) && !(now && MatchesAny(anti, *now))) {
    return QueueingHint::kQueue;
  }
  if (now) return QueueingHint::kSkip;
  const AffinityTerms gone = ParseAffinityTerms(*old);
  const Labels namespace_labels = NamespaceLabels(pod);
  return QueueIf(std::ranges::any_of(
      gone.required_anti_affinity,
      [&](const auto& term) { return term.Matches(pod, namespace_labels); }));
}

QueueingHint InterPodAffinity::AfterNodeChange(
    const Pod& pod, const ClusterChange& change) const {
  const auto old = change.Old<Node>();
  const Labels& now = change.New<Node>()->metadata.labels;
  const AffinityTerms terms = ParseAffinityTerms(pod);
  if (!old && terms.required_affinity.empty()) return QueueingHint::kQueue;
  for (const AffinityTerm& term : terms.required_affinity) {
    const std::string* domain = Find(now, term.topology_key);
    if (domain && (!old || !Find(old->metadata.labels, term.topology_key))) {
      return QueueingHint::kQueue;
    }
  }
  if (!old) return QueueingHint::kSkip;
  // The node may have left a domain. Any label may be the topology key of the
  // rule of another pod, and a hint can't read other pods.
  return QueueIf(
      std::ranges::any_of(old->metadata.labels, [&](const auto& was) {
        const std::string* domain = Find(now, was.first);
        return !domain || *domain != was.second;
      }));
}

Status InterPodAffinity::PreFilter(CycleState& state, const Pod& pod,
                                   const Nodes& nodes,
                                   PreFilterResult& /*result*/) const {
  AffinityTerms terms = TermsOf(pod);
  if (!terms.error.empty()) {
    return {Code::kUnschedulableAndUnresolvable, "parsing pod: " + terms.error};
  }
  const Nodes& repelling =
      handle_.snapshot.HavePodsWithRequiredAntiAffinityList();
  // A shortcut: CanSkip() would return true as well.
  if (terms.required_affinity.empty() && terms.required_anti_affinity.empty() &&
      repelling.empty()) {
    return Code::kSkip;
  }
  AffinityCounts counts(pod, std::move(terms), NamespaceLabels(pod), nodes,
                        repelling);
  if (counts.CanSkip()) return Code::kSkip;
  state.Write(std::move(counts));
  return {};
}

void InterPodAffinity::AddPod(CycleState& state, const Pod& /*pod*/,
                              const PodInfo& added,
                              const NodeInfo& node) const {
  state.Read<AffinityCounts>().Update(added, node.node(), 1);
}

void InterPodAffinity::RemovePod(CycleState& state, const Pod& /*pod*/,
                                 const PodInfo& removed,
                                 const NodeInfo& node) const {
  state.Read<AffinityCounts>().Update(removed, node.node(), -1);
}

Status InterPodAffinity::Filter(const CycleState& state, const Pod& /*pod*/,
                                const NodeInfo& node) const {
  return state.Read<AffinityCounts>().Check(node.node());
}

Status InterPodAffinity::PreScore(CycleState& state, const Pod& pod,
                                  const Nodes& /*nodes*/) const {
  const AffinityTerms terms = TermsOf(pod);
  if (terms.preferred.empty() &&
      (args_.ignore_preferred_terms_of_existing_pods ||
       handle_.snapshot.HavePodsWithAffinityList().empty())) {
    return Code::kSkip;
  }
  AffinityPoints points(pod, terms.preferred, args_.hard_pod_affinity_weight,
                        NamespaceLabels(pod), handle_.snapshot);
  if (points.Empty()) return Code::kSkip;
  state.Write(std::move(points));
  return {};
}

Status InterPodAffinity::Score(const CycleState& state, const Pod& /*pod*/,
                               const NodeInfo& node,
                               std::int64_t& score) const {
  score = state.Read<AffinityPoints>().Score(node.node());
  return {};
}

Status InterPodAffinity::NormalizeScore(const CycleState& /*state*/,
                                        const Pod& /*pod*/,
                                        std::vector<NodeScore>& scores) const {
  const auto [min, max] = std::ranges::minmax(scores, {}, &NodeScore::score);
  const double range = static_cast<double>(max.score - min.score);
  for (NodeScore& each : scores) {
    // As upstream, a quotient of doubles: 29 of 100 points become 28.
    const double part =
        range > 0 ? static_cast<double>(each.score - min.score) / range : 0;
    each.score = static_cast<std::int64_t>(kMaxNodeScore * part);
  }
  return {};
}

AffinityTerms InterPodAffinity::TermsOf(const Pod& pod) const {
  AffinityTerms terms = ParseAffinityTerms(pod);
  for (auto* list : {&terms.required_affinity, &terms.required_anti_affinity,
                     &terms.preferred}) {
    for (AffinityTerm& term : *list) AddSelectedNamespaces(term);
  }
  return terms;
}

void InterPodAffinity::AddSelectedNamespaces(AffinityTerm& term) const {
  if (!term.namespace_selector || term.namespace_selector->Empty()) return;
  for (const auto& each : handle_.informers.Of<Namespace>().store().List()) {
    if (!term.namespace_selector->Matches(each->metadata.labels)) continue;
    term.namespaces.insert(each->metadata.name);
  }
  term.namespace_selector.reset();
}

Labels InterPodAffinity::NamespaceLabels(const Pod& pod) const {
  const auto found = handle_.informers.Of<Namespace>().store().Get(
      "", pod.metadata.namespace_name);
  return found ? found->metadata.labels : Labels();
}

}  // namespace minisched
