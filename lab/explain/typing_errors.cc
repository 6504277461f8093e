#include "lab/explain/typing_errors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "lab/apiserver/object.h"
#include "lab/explain/causes.h"
#include "lab/explain/pod_changes.h"
#include "minisched/api/document.h"

namespace minisched::explain {
namespace {

using apiserver::Json;

constexpr std::size_t kMinLength = 4;

bool IsDigit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// Returns the digits, each with the character after it.
std::string DigitsOf(const std::string& text) {
  std::string digits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (IsDigit(text[i])) digits += text.substr(i, 2);
  }
  return digits;
}

// Returns true if one letter is missing, is another one, or is swapped with the
// next one.
bool IsOneEdit(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty() && a.front() == b.front()) {
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  while (!a.empty() && !b.empty() && a.back() == b.back()) {
    a.remove_suffix(1);
    b.remove_suffix(1);
  }
  if (a.size() <= 1 && b.size() <= 1) return true;
  return a.size() == 2 && b.size() == 2 && a[0] == b[1] && a[1] == b[0];
}

// Returns the label of the node that is meant by a key and a value.
std::optional<std::pair<std::string, std::string>> MeantLabel(
    const Node& node, const std::string& key, const std::string& value) {
  for (const auto& label : node.metadata.labels) {
    const auto& [its_key, its_value] = label;
    const bool is_meant = (its_key == key && LooksMistyped(its_value, value)) ||
                          (its_value == value && LooksMistyped(its_key, key));
    if (is_meant) return label;
  }
  return std::nullopt;
}

// Returns what is meant by a requirement with Gt or Lt and a decimal number.
std::optional<NodeSelectorRequirement> WithInteger(
    NodeSelectorRequirement requirement) {
  const bool compares = requirement.op == "Gt" || requirement.op == "Lt";
  if (!compares || requirement.values.size() != 1) return std::nullopt;
  const std::string& text = requirement.values[0];
  if (text.find_first_not_of("+-.0123456789") != text.npos) return std::nullopt;
  const double number = std::strtod(text.c_str(), nullptr);
  // No integer is between the number and the next one in this direction.
  const double integer =
      requirement.op == "Gt" ? std::floor(number) : std::ceil(number);
  requirement.values[0] = fmt::format("{:.0f}", integer);
  return requirement;
}

std::optional<NodeSelectorRequirement> MeantRequirement(
    const NodeSelectorRequirement& requirement, const Node& node) {
  NodeSelectorRequirement meant = requirement;
  if (requirement.op == "In") {
    for (std::string& value : meant.values) {
      const auto label = MeantLabel(node, requirement.key, value);
      if (!label) continue;
      std::tie(meant.key, value) = *label;
      return meant;
    }
  } else if (requirement.op == "Exists") {
    for (const auto& [key, value] : node.metadata.labels) {
      if (!LooksMistyped(key, requirement.key)) continue;
      meant.key = key;
      return meant;
    }
  }
  return WithInteger(std::move(meant));
}

// Collects the texts of the corrections.
class Corrections {
 public:
  void Add(const std::string& verb, const std::string& now,
           const std::string& before) {
    texts_.push_back(fmt::format("{} {} instead of {}", verb, now, before));
  }
  std::string Text() const {
    return fmt::format("the pod {}", fmt::join(texts_, " and "));
  }
  bool empty() const { return texts_.empty(); }

 private:
  std::vector<std::string> texts_;
};

// Corrects the node selector. Returns false if it differs in more than typing
// errors.
bool CorrectSelector(const Pod& pod, const Node& node, Json& spec,
                     Corrections& corrections) {
  for (const auto& [key, value] : UnmatchedLabels(pod, node)) {
    const auto label = MeantLabel(node, key, value);
    if (!label) return false;
    spec["nodeSelector"].erase(key);
    spec["nodeSelector"][label->first] = label->second;
    corrections.Add("selects",
                    fmt::format("{}={}", label->first, label->second),
                    fmt::format("{}={}", key, value));
  }
  return true;
}

// Corrects a term of the node affinity in the same way. `json` is the term.
bool CorrectTerm(const NodeSelectorTerm& term, const Node& node, Json& json,
                 Corrections& corrections) {
  for (const auto& unmet : UnmetRequirements(term, node)) {
    const auto& all = term.match_expressions;
    const auto found = std::ranges::find(all, unmet);
    const auto meant = MeantRequirement(unmet, node);
    if (!meant || *meant == unmet || found == all.end()) return false;
    json["matchExpressions"][found - all.begin()] = {{"key", meant->key},
                                                     {"operator", meant->op},
                                                     {"values", meant->values}};
    corrections.Add("requires", ToString(*meant), ToString(unmet));
  }
  return true;
}

}  // namespace

bool LooksMistyped(std::string_view a, std::string_view b) {
  const auto simplified = [](std::string_view text) {
    std::string lower(text);
    boost::to_lower(lower);
    for (char& c : lower) {
      if (c == '_' || c == '.') c = '-';
    }
    return lower;
  };
  if (a == b) return false;
  std::string one = simplified(a);
  std::string other = simplified(b);
  if (one == other) return true;
  if (DigitsOf(one) != DigitsOf(other)) return false;
  if (boost::erase_all_copy(one, "-") == boost::erase_all_copy(other, "-")) {
    return true;
  }
  return std::min(one.size(), other.size()) >= kMinLength &&
         IsOneEdit(one, other);
}

std::optional<Change> WithoutTypingErrors(Json pod, const Node& node) {
  const Pod typed = FromDocument<Pod>(pod);
  Json& spec = pod["spec"];
  Corrections corrections;
  if (!CorrectSelector(typed, node, spec, corrections)) return std::nullopt;
  if (!MatchesRequiredTerms(typed, node)) {
    const auto& terms =
        typed.spec.affinity.node_affinity.required->node_selector_terms;
    Json& json =
        spec["affinity"]["nodeAffinity"][kRequired]["nodeSelectorTerms"];
    const bool corrected = std::ranges::any_of(terms, [&](const auto& term) {
      Corrections of_term = corrections;
      Json& its_json = json[&term - terms.data()];
      Json changed = its_json;
      if (!CorrectTerm(term, node, changed, of_term)) return false;
      its_json = std::move(changed);
      corrections = std::move(of_term);
      return true;
    });
    if (!corrected) return std::nullopt;
  }
  if (corrections.empty()) return std::nullopt;
  return Change{corrections.Text(), ReplacingSteps(pod)};
}

}  // namespace minisched::explain
