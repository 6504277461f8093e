// Fuzzes node selectors. The first line of the input has the labels of a node,
// such as "zone=a arch=arm64". Each further line is a requirement of one term:
// a key, an operator and values, such as "zone In a b". A key that begins with
// '.' names a field: ".metadata.name In n".

#include "minisched/api/node_affinity.h"
#include "minisched/api/parse_error.h"
#include "minisched/base/fuzzing.h"

namespace minisched {
namespace {

Node ParseNode(std::string_view line) {
  Node node;
  node.metadata.name = "n";
  for (const std::string& label : SplitWords(line)) {
    const std::size_t end = std::min(label.find('='), label.size());
    node.metadata.labels[label.substr(0, end)] =
        label.substr(std::min(end + 1, label.size()));
  }
  return node;
}

NodeSelectorTerm ParseTerm(std::string_view lines) {
  NodeSelectorTerm term;
  while (!lines.empty()) {
    std::vector<std::string> words = SplitWords(TakeLine(lines));
    if (words.size() < 2) continue;
    const bool field = words[0].starts_with('.');
    auto& list = field ? term.match_fields : term.match_expressions;
    list.push_back({.key = words[0].substr(field),
                    .op = words[1],
                    .values = {words.begin() + 2, words.end()}});
  }
  return term;
}

// Returns whether a label selector with the term's requirements matches, or
// nullopt if the selector is malformed. Label selectors have the same operators
// as node selectors, except Gt and Lt.
std::optional<bool> MatchesAsLabels(const NodeSelectorTerm& term,
                                    const Node& node) {
  LabelSelector selector;
  for (const auto& [key, op, values] : term.match_expressions) {
    selector.match_expressions.push_back({key, op, values});
  }
  try {
    const auto parsed = Selector::FromLabelSelector(selector);
    return parsed.Matches(node.metadata.labels);
  } catch (const ParseError&) {
    return std::nullopt;
  }
}

void CheckTerm(const NodeSelectorTerm& term, const Node& node) {
  std::vector<std::string> errors;
  const auto matcher = NodeTermMatcher::Parse(term, "term", errors);
  Require(!matcher || errors.empty(), "a malformed term has no matcher");
  const bool matches = matcher && matcher->Matches(node);

  Pod pod;
  pod.spec.affinity.node_affinity.required = {{term}};
  Require(RequiredNodeAffinity(pod).Matches(node) == matches,
          "a required term matches like its matcher");
  pod.spec.affinity.node_affinity.preferred = {
      {.weight = 7, .preference = term}};
  try {
    const std::int64_t score = PreferredSchedulingTerms(pod).Score(node);
    Require(score == (matches ? 7 : 0), "a matching term has its weight");
    Require(errors.empty(), "a malformed preference is rejected");
  } catch (const ParseError& error) {
    Require(!errors.empty(), "a valid preference is accepted", error.what());
  }
  if (!matcher || !term.match_fields.empty()) return;
  const auto as_labels = MatchesAsLabels(term, node);
  Require(as_labels.value_or(matches) == matches,
          "a term matches like the same label selector");
}

}  // namespace
}  // namespace minisched

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace minisched;
  std::string_view text = InputText(data, size);
  const Node node = ParseNode(TakeLine(text));
  CheckTerm(ParseTerm(text), node);
  return 0;
}
