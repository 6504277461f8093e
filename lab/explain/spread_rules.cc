#include "lab/explain/spread_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "lab/explain/pod_rules.h"
#include "minisched/api/node_affinity.h"
#include "minisched/api/taints.h"

namespace minisched::explain {
namespace {

constexpr std::size_t kShownCounts = 5;

Selector SelectorOf(const TopologySpreadConstraint& rule,
                    const Labels& pod_labels) {
  if (!rule.label_selector) return Selector::Nothing();
  LabelSelector selector = *rule.label_selector;
  for (const std::string& key : rule.match_label_keys) {
    const auto label = pod_labels.find(key);
    if (label == pod_labels.end()) continue;
    const LabelSelectorRequirement own{key, "In", {label->second}};
    // The API server has added this requirement if the pod is new.
    if (std::ranges::find(selector.match_expressions, own) !=
        selector.match_expressions.end()) {
      continue;
    }
    selector.match_expressions.push_back(own);
  }
  return Selector::FromLabelSelector(selector);
}

// Returns a label of the node that ends with "/" and the key, or "".
std::string SimilarLabel(const Node& node, const std::string& key) {
  for (const auto& [name, value] : node.metadata.labels) {
    if (name.ends_with("/" + key)) return name;
  }
  return "";
}

}  // namespace

SpreadRules::SpreadRules(const Pod& pod, const NodeStates& nodes) {
  const auto& rules = pod.spec.topology_spread_constraints;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].when_unsatisfiable != "DoNotSchedule") continue;
    Selector selector = SelectorOf(rules[i], pod.metadata.labels);
    const bool counts_itself = selector.Matches(pod.metadata.labels);
    constraints_.push_back({.position = i,
                            .rule = rules[i],
                            .selector = std::move(selector),
                            .counts_itself = counts_itself});
  }
  if (constraints_.empty()) return;
  const RequiredNodeAffinity affinity(pod);
  for (const auto& [name, state] : nodes) {
    const Node& node = state.node;
    // Nodes that lack one of the keys count for no constraint.
    if (!std::ranges::all_of(constraints_, [&](const Constraint& each) {
          return LabelOf(node, each.rule.topology_key) != nullptr;
        })) {
      continue;
    }
    const bool is_tainted = HasUntoleratedTaint(node, pod);
    for (Constraint& each : constraints_) {
      const TopologySpreadConstraint& rule = each.rule;
      if (rule.node_affinity_policy != "Ignore" && !affinity.Matches(node)) {
        continue;
      }
      if (rule.node_taints_policy == "Honor" && is_tainted) continue;
      each.counts_tainted_nodes |= is_tainted;
      each.counts[*LabelOf(node, rule.topology_key)] +=
          each.CountPods(state, pod);
    }
  }
}

int SpreadRules::Constraint::CountPods(const NodeState& node,
                                       const Pod& pod) const {
  if (selector.Empty()) return 0;  // as upstream
  return static_cast<int>(
      std::ranges::count_if(node.placed, [&](const PlacedPod& other) {
        return !other.metadata.deletion_timestamp &&
               other.metadata.namespace_name == pod.metadata.namespace_name &&
               selector.Matches(other.metadata.labels);
      }));
}

bool SpreadRules::Constraint::HasFewDomains() const {
  return static_cast<int>(counts.size()) < rule.min_domains.value_or(1);
}

std::string SpreadRules::Constraint::Smallest() const {
  const auto smallest = std::ranges::min_element(
      counts, {}, [](const auto& domain) { return domain.second; });
  return smallest == counts.end() ? "" : smallest->first;
}

int SpreadRules::Constraint::Min() const {
  return HasFewDomains() || counts.empty() ? 0 : counts.at(Smallest());
}

int SpreadRules::Constraint::CountIn(const std::string& domain) const {
  const auto found = counts.find(domain);
  return found == counts.end() ? 0 : found->second;
}

int SpreadRules::Constraint::SkewWith(const std::string& domain) const {
  return CountIn(domain) + (counts_itself ? 1 : 0) - Min();
}

std::string SpreadRules::Constraint::Show() const {
  std::vector<std::pair<int, std::string>> domains;
  for (const auto& [name, count] : counts) domains.emplace_back(count, name);
  std::ranges::sort(domains);
  std::vector<std::string> texts;
  for (const auto& [count, name] : domains) {
    if (texts.size() == kShownCounts) {
      texts.push_back(fmt::format("… ({} domains)", domains.size()));
      break;
    }
    texts.push_back(fmt::format("{} {}", name, count));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

// Returns "spread by zone: with this pod, a has 3 pods with app=web, and may
// have 1 (c 0, b 1, a 2; maxSkew 1)".
std::string SpreadRules::Constraint::CauseIn(const std::string& domain) const {
  const std::string labels = selector.ToString();
  const int count = CountIn(domain) + (counts_itself ? 1 : 0);
  std::string cause = fmt::format(
      "spread by {}: {}{} has {} pod{}{}{}, and may have {} ({}{}maxSkew {}",
      rule.topology_key, counts_itself ? "with this pod, " : "", domain, count,
      count == 1 ? "" : "s", labels.empty() ? "" : " with ", labels,
      Min() + rule.max_skew, Show(), counts.empty() ? "" : "; ", rule.max_skew);
  if (rule.min_domains && HasFewDomains()) {
    cause += fmt::format("; the minimum is 0, because minDomains is {}",
                         *rule.min_domains);
  }
  return cause + ")";
}

std::vector<SpreadViolation> SpreadRules::ViolationsOf(const Node& node) const {
  std::vector<SpreadViolation> violations;
  for (const Constraint& each : constraints_) {
    const std::string* domain = LabelOf(node, each.rule.topology_key);
    const int skew = domain ? each.SkewWith(*domain) : 0;
    if (domain && skew <= each.rule.max_skew) continue;
    violations.push_back(
        {.constraint = each.position,
         .topology_key = each.rule.topology_key,
         .max_skew = each.rule.max_skew,
         .skew = skew,
         .smallest = each.Smallest(),
         .lacks_label = domain == nullptr,
         .similar_label = SimilarLabel(node, each.rule.topology_key),
         .counts_tainted_nodes = each.counts_tainted_nodes});
  }
  return violations;
}

std::vector<std::string> SpreadRules::CausesOf(const Node& node) const {
  std::vector<std::string> causes;
  for (const Constraint& each : constraints_) {
    const std::string& key = each.rule.topology_key;
    const std::string* domain = LabelOf(node, key);
    if (domain == nullptr) {
      const std::string similar = SimilarLabel(node, key);
      causes.push_back(
          fmt::format("spread by {}: the node has no label {}{}", key, key,
                      similar.empty() ? "" : " (but " + similar + ")"));
    } else if (each.SkewWith(*domain) > each.rule.max_skew) {
      causes.push_back(each.CauseIn(*domain));
    }
  }
  return causes;
}

}  // namespace minisched::explain
