#include "framework/affinity_term.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "minisched/api/parse_error.h"

namespace minisched {
namespace {

AffinityTerm ParseTerm(const Pod& pod, const PodAffinityTerm& term) {
  AffinityTerm parsed{
      .namespaces = {term.namespaces.begin(), term.namespaces.end()},
      .namespace_selector = {},
      .selector = term.label_selector
                      ? Selector::FromLabelSelector(*term.label_selector)
                      : Selector::Nothing(),
      .topology_key = term.topology_key};
  if (term.namespace_selector) {
    parsed.namespace_selector =
        Selector::FromLabelSelector(*term.namespace_selector);
  } else if (term.namespaces.empty()) {
    parsed.namespaces.insert(pod.metadata.namespace_name);
  }
  return parsed;
}

AffinityTerm ParseTerm(const Pod& pod, const WeightedPodAffinityTerm& term) {
  AffinityTerm parsed = ParseTerm(pod, term.pod_affinity_term);
  parsed.weight = term.weight;
  return parsed;
}

// Returns no terms if one of them is malformed, and adds the reason to
// `errors`.
template <class Term>
std::vector<AffinityTerm> ParseTerms(const Pod& pod,
                                     const std::vector<Term>& terms,
                                     const char* field,
                                     std::vector<std::string>& errors) {
  std::vector<AffinityTerm> parsed;
  try {
    for (const Term& term : terms) {
      parsed.push_back(ParseTerm(pod, term));
    }
  } catch (const ParseError& malformed) {
    errors.push_back(fmt::format("{}: {}", field, malformed.what()));
    return {};
  }
  return parsed;
}

}  // namespace

bool AffinityTerm::Matches(const Pod& pod,
                           const Labels& namespace_labels) const {
  if (!namespaces.contains(pod.metadata.namespace_name) &&
      !(namespace_selector && namespace_selector->Matches(namespace_labels))) {
    return false;
  }
  return selector.Matches(pod.metadata.labels);
}

bool MatchesAll(const std::vector<AffinityTerm>& terms, const Pod& pod) {
  return !terms.empty() &&
         std::ranges::all_of(terms, [&](const AffinityTerm& term) {
           return term.Matches(pod, kNamespacesResolved);
         });
}

AffinityTerms ParseAffinityTerms(const Pod& pod) {
  const Affinity& affinity = pod.spec.affinity;
  AffinityTerms terms;
  std::vector<std::string> errors;
  terms.required_affinity = ParseTerms(pod, affinity.pod_affinity.required,
                                       "requiredAffinityTerms", errors);
  terms.required_anti_affinity =
      ParseTerms(pod, affinity.pod_anti_affinity.required,
                 "requiredAntiAffinityTerms", errors);
  terms.preferred = ParseTerms(pod, affinity.pod_affinity.preferred,
                               "preferredAffinityTerms", errors);
  for (AffinityTerm& term :
       ParseTerms(pod, affinity.pod_anti_affinity.preferred,
                  "preferredAntiAffinityTerms", errors)) {
    term.weight = -term.weight;
    terms.preferred.push_back(std::move(term));
  }
  terms.error = fmt::format("{}", fmt::join(errors, ", "));
  if (errors.size() > 1) terms.error = "[" + terms.error + "]";
  return terms;
}

}  // namespace minisched
