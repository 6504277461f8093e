#include "lab/explain/rule_changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lab/apiserver/object.h"
#include "lab/explain/pod_changes.h"

namespace minisched::explain {
namespace {

using apiserver::Dump;
using apiserver::Json;
using Positions = std::vector<std::size_t>;
using Texts = std::vector<std::string>;

SortedChange Labelled(const Node& node, const Json& labels) {
  Texts texts;
  for (const auto& [key, value] : labels.items()) {
    texts.push_back(fmt::format("{}={}", key, value.get<std::string>()));
  }
  return {"label",
          {fmt::format("{} gets the label{} {}", node.metadata.name,
                       texts.size() == 1 ? "" : "s", fmt::join(texts, " and ")),
           Dump({{"patch",
                  {{"node", node.metadata.name},
                   {"merge", {{"metadata", {{"labels", labels}}}}}}}})}};
}

// Returns the list of the pod's required terms of one kind.
Json& TermsOf(Json& pod, const char* kind) {
  return pod["spec"]["affinity"][kind][kRequired];
}

// Removes the terms at these positions, which are sorted.
void RemoveTerms(Json& pod, const char* kind, const Positions& positions) {
  for (auto i = positions.rbegin(); i != positions.rend(); ++i) {
    TermsOf(pod, kind).erase(*i);
  }
}

// Returns the change that removes required terms from the pod.
Change WithoutTerms(Json pod, const PodRules& rules, const Positions& affinity,
                    const Positions& anti_affinity) {
  Texts texts;
  const bool is_all =
      affinity.size() > 1 && affinity.size() == rules.affinity().size();
  if (is_all) texts.emplace_back("require other pods");
  for (const std::size_t i : is_all ? Positions() : affinity) {
    const PodTerm& term = rules.affinity()[i];
    texts.push_back(fmt::format("require {} {}", term.Pods(),
                                SamePlace(term.topology_key())));
  }
  for (const std::size_t i : anti_affinity) {
    texts.push_back("keep away from " + rules.anti_affinity()[i].Pods());
  }
  RemoveTerms(pod, "podAffinity", affinity);
  RemoveTerms(pod, "podAntiAffinity", anti_affinity);
  return {fmt::format("the pod does not {}", fmt::join(texts, " and ")),
          ReplacingSteps(pod)};
}

// Adds the label of a topology that the node lacks.
void AddNodeLabel(const PodRules& rules, const Node& node,
                  const Positions& affinity, std::vector<SortedChange>& found) {
  Json labels = Json::object();
  for (const std::size_t i : affinity) {
    const std::string& key = rules.affinity()[i].topology_key();
    if (LabelOf(node, key)) continue;
    const std::string domain = rules.DomainOf(i);
    labels[key] = domain.empty() ? node.metadata.name : domain;
  }
  if (!labels.empty()) found.push_back(Labelled(node, labels));
}

// Adds the namespaces in which the required pods are.
void AddNamespaces(Json pod, const PodRules& rules, const Positions& affinity,
                   std::vector<SortedChange>& found) {
  Texts texts;
  for (const std::size_t i : affinity) {
    Json& term = TermsOf(pod, "podAffinity")[i];
    Json& names = term["namespaces"];
    if (names.empty() && !term.contains("namespaceSelector")) {
      names.push_back(apiserver::NamespaceOf(pod));
    }
    for (const std::string& name : rules.OtherNamespaces(i)) {
      names.push_back(name);
      if (std::ranges::find(texts, name) == texts.end()) texts.push_back(name);
    }
  }
  if (texts.empty()) return;
  found.push_back(
      {"namespace",
       {fmt::format("the pod's affinity also selects the "
                    "namespace{} {}",
                    texts.size() == 1 ? "" : "s", fmt::join(texts, ", ")),
        ReplacingSteps(pod)}});
}

Change WithoutPod(const PlacedPod& pod, const Node& node) {
  return {
      fmt::format("the pod {}, which keeps this pod away from {}, is deleted",
                  ObjectName(pod.metadata), node.metadata.name),
      Dump({{"delete",
             {{"pod", pod.metadata.name},
              {"namespace", pod.metadata.namespace_name},
              {"grace", 0}}}})};
}

// Adds a change of all violated constraints. `edit` returns a text that
// follows `verb`, or "" if it would not help.
template <class Edit>
void AddConstraints(Json pod, const std::vector<SpreadViolation>& violations,
                    const std::string& sort, const std::string& verb,
                    const Edit& edit, std::vector<SortedChange>& found) {
  Texts texts;
  for (const SpreadViolation& violation : violations) {
    Json& rule = pod["spec"]["topologySpreadConstraints"][violation.constraint];
    const std::string text = edit(violation, rule);
    if (!text.empty()) texts.push_back(text);
  }
  if (texts.size() != violations.size()) return;  // not all would be met
  found.push_back(
      {sort,
       {fmt::format("the pod {} {}", verb, fmt::join(texts, " and ")),
        ReplacingSteps(pod)}});
}

}  // namespace

std::vector<SortedChange> PodRuleChanges(const Json& pod, const PodRules& rules,
                                         const Node& node) {
  std::vector<SortedChange> found;
  const Positions affinity = rules.UnmetAffinity(node);
  const Positions anti_affinity = rules.UnmetAntiAffinity(node);
  AddNodeLabel(rules, node, affinity, found);
  AddNamespaces(pod, rules, affinity, found);
  if (const PlacedPod* other = rules.OnlyRepelling(node)) {
    found.emplace_back("repelling pod", WithoutPod(*other, node));
  }
  if (affinity.size() > 1 && anti_affinity.empty()) {
    for (const std::size_t i : affinity) {
      found.emplace_back("affinity term", WithoutTerms(pod, rules, {i}, {}));
    }
  }
  if (!affinity.empty() || !anti_affinity.empty()) {
    found.emplace_back("affinity",
                       WithoutTerms(pod, rules, affinity, anti_affinity));
  }
  return found;
}

std::vector<SortedChange> SpreadChanges(const Json& pod,
                                        const SpreadRules& rules,
                                        const Node& node) {
  std::vector<SortedChange> found;
  const auto violations = rules.ViolationsOf(node);
  if (violations.empty()) return found;
  Json labels = Json::object();
  for (const SpreadViolation& each : violations) {
    if (!each.lacks_label) continue;
    labels[each.topology_key] =
        each.smallest.empty() ? node.metadata.name : each.smallest;
  }
  if (!labels.empty()) found.push_back(Labelled(node, labels));
  const auto add = [&](const char* sort, const char* verb, const auto& edit) {
    AddConstraints(pod, violations, sort, verb, edit, found);
  };
  add("spread key", "spreads by", [](const SpreadViolation& each, Json& rule) {
    if (each.similar_label.empty()) return std::string();
    rule["topologyKey"] = each.similar_label;
    return fmt::format("{} instead of {}", each.similar_label,
                       each.topology_key);
  });
  add("spread taints", "spreads by",
      [](const SpreadViolation& each, Json& rule) {
        const bool helps = !each.lacks_label && each.counts_tainted_nodes;
        if (!helps) return std::string();
        rule["nodeTaintsPolicy"] = "Honor";
        return fmt::format("{} with nodeTaintsPolicy: Honor",
                           each.topology_key);
      });
  add("skew", "spreads by", [](const SpreadViolation& each, Json& rule) {
    if (each.lacks_label) return std::string();
    rule["maxSkew"] = each.skew;
    return fmt::format("{} with maxSkew: {}", each.topology_key, each.skew);
  });
  add("spread", "only prefers to spread by",
      [](const SpreadViolation& each, Json& rule) {
        rule["whenUnsatisfiable"] = "ScheduleAnyway";
        rule.erase("minDomains");
        return each.topology_key;
      });
  return found;
}

}  // namespace minisched::explain
