#include "minisched/api/node_affinity.h"

#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <utility>

#include "minisched/api/parse_error.h"

namespace minisched {
namespace {

using Operator = Requirement::Operator;

constexpr char kLabelOperators[] =
    R"("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")";
constexpr char kFieldOperators[] = R"("In", "NotIn")";

// The errors below have the form of apimachinery's field.Error.

[[noreturn]] void FailOperator(const std::string& op, const char* supported) {
  throw ParseError("operator: Unsupported value: " + Quoted(op) +
                   ": supported values: " + supported);
}

Requirement ParseLabelRequirement(const NodeSelectorRequirement& requirement) {
  const auto op = Requirement::FindOperator(requirement.op);
  if (!op) FailOperator(requirement.op, kLabelOperators);
  return Requirement(requirement.key, *op, requirement.values);
}

// Throws ParseError if the requirement of match_fields is malformed.
void CheckFieldRequirement(const NodeSelectorRequirement& requirement) {
  if (requirement.op != "In" && requirement.op != "NotIn") {
    FailOperator(requirement.op, kFieldOperators);
  }
  if (requirement.values.size() != 1) {
    throw ParseError("values: Invalid value: " + Quoted(requirement.values) +
                     ": must have one element");
  }
}

// Calls `parse` with each requirement. If `parse` throws a ParseError, adds its
// message to `errors`, after the path of the requirement.
template <class Parse>
void ParseEach(const std::vector<NodeSelectorRequirement>& requirements,
               const std::string& path, std::vector<std::string>& errors,
               const Parse& parse) {
  for (std::size_t i = 0; i < requirements.size(); ++i) {
    try {
      parse(requirements[i]);
    } catch (const ParseError& error) {
      errors.push_back(path + "[" + std::to_string(i) + "]." + error.what());
    }
  }
}

// Joins the errors into one text, in the form of apimachinery's
// utilerrors.Aggregate.
std::string Aggregate(const std::vector<std::string>& errors) {
  if (errors.size() == 1) return errors.front();
  return "[" + boost::algorithm::join(errors, ", ") + "]";
}

}  // namespace

std::optional<NodeTermMatcher> NodeTermMatcher::Parse(
    const NodeSelectorTerm& term, const std::string& path,
    std::vector<std::string>& errors) {
  const std::size_t errors_before = errors.size();
  std::vector<Requirement> labels;
  ParseEach(term.match_expressions, path + ".matchExpressions", errors,
            [&](const NodeSelectorRequirement& requirement) {
              labels.push_back(ParseLabelRequirement(requirement));
            });
  std::vector<FieldRequirement> fields;
  ParseEach(term.match_fields, path + ".matchFields", errors,
            [&](const NodeSelectorRequirement& requirement) {
              CheckFieldRequirement(requirement);
              fields.push_back({requirement.key, requirement.op == "In",
                                requirement.values.front()});
            });
  if (errors.size() > errors_before) return std::nullopt;
  if (labels.empty() && fields.empty()) return std::nullopt;
  return NodeTermMatcher(std::move(labels), std::move(fields));
}

NodeTermMatcher::NodeTermMatcher(std::vector<Requirement> labels,
                                 std::vector<FieldRequirement> fields)
    : labels_(std::move(labels)), fields_(std::move(fields)) {}

bool NodeTermMatcher::Matches(const Labels& labels,
                              std::string_view name) const {
  const auto holds = [&](const FieldRequirement& requirement) {
    std::string_view field;
    if (requirement.field == "metadata.name") field = name;
    return (field == requirement.value) == requirement.equal;
  };
  return labels_.Matches(labels) &&
         (name.empty() || std::ranges::all_of(fields_, holds));
}

NodeSelectorMatcher::NodeSelectorMatcher(const NodeSelector& selector) {
  std::vector<std::string> ignored_errors;
  for (const NodeSelectorTerm& term : selector.node_selector_terms) {
    auto matcher = NodeTermMatcher::Parse(term, "", ignored_errors);
    if (matcher) terms_.push_back(*std::move(matcher));
  }
}

bool NodeSelectorMatcher::Matches(const Labels& labels,
                                  std::string_view name) const {
  return std::ranges::any_of(terms_, [&](const NodeTermMatcher& term) {
    return term.Matches(labels, name);
  });
}

RequiredNodeAffinity::RequiredNodeAffinity(const Pod& pod)
    : node_selector_(pod.spec.node_selector) {
  const auto& required = pod.spec.affinity.node_affinity.required;
  if (required) terms_.emplace(*required);
}

bool RequiredNodeAffinity::Matches(const Node& node) const {
  return std::ranges::includes(node.metadata.labels, node_selector_) &&
         (!terms_ || terms_->Matches(node));
}

PreferredSchedulingTerms::PreferredSchedulingTerms(
    const std::vector<PreferredSchedulingTerm>& preferred) {
  std::vector<std::string> errors;
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    const auto& [weight, preference] = preferred[i];
    if (weight == 0) continue;
    auto matcher = NodeTermMatcher::Parse(
        preference, "[" + std::to_string(i) + "]", errors);
    if (matcher) terms_.push_back({weight, *std::move(matcher)});
  }
  if (!errors.empty()) throw ParseError(Aggregate(errors));
}

std::int64_t PreferredSchedulingTerms::Score(const Node& node) const {
  std::int64_t score = 0;
  for (const auto& [weight, matcher] : terms_) {
    if (matcher.Matches(node)) score += weight;
  }
  return score;
}

}  // namespace minisched
