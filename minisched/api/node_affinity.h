// Matches nodes against the nodeSelector and nodeAffinity of a pod, and the
// nodeAffinity of a volume.
// Follows component-helpers scheduling/corev1/nodeaffinity.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "minisched/api/labels.h"
#include "minisched/api/node.h"
#include "minisched/api/pod.h"

namespace minisched {

// A parsed NodeSelectorTerm. A value type; const access is thread-safe.
class NodeTermMatcher {
 public:
  // Returns nullopt if the term matches no node, because it is empty or
  // malformed: it has an unknown operator, a Gt whose value isn't an integer, …
  // Adds the errors of a malformed term to `errors`. Each error starts with
  // `path`, the path of the term.
  static std::optional<NodeTermMatcher> Parse(const NodeSelectorTerm& term,
                                              const std::string& path,
                                              std::vector<std::string>& errors);

  // Returns true if the node with these labels and this name satisfies all
  // requirements of the term. Without a name, only the labels count.
  bool Matches(const Labels& labels, std::string_view name) const;
  bool Matches(const Node& node) const {
    return Matches(node.metadata.labels, node.metadata.name);
  }

 private:
  // Either field == value or field != value. Fields other than metadata.name
  // have the value "".
  struct FieldRequirement {
    std::string field;
    bool equal;
    std::string value;
  };

  NodeTermMatcher(std::vector<Requirement> labels,
                  std::vector<FieldRequirement> fields);

  Selector labels_;
  std::vector<FieldRequirement> fields_;
};

// A parsed NodeSelector. A value type; const access is thread-safe.
class NodeSelectorMatcher {
 public:
  explicit NodeSelectorMatcher(const NodeSelector& selector);

  // Returns true if the node matches at least one term. A malformed term
  // matches no node, as in upstream.
  bool Matches(const Node& node) const {
    return Matches(node.metadata.labels, node.metadata.name);
  }
  // The same without requirements on fields. Upstream matches the node affinity
  // of a volume in this way, so a volume can't select the name of a node.
  bool MatchesLabels(const Labels& labels) const { return Matches(labels, ""); }

 private:
  bool Matches(const Labels& labels, std::string_view name) const;

  std::vector<NodeTermMatcher> terms_;
};

// A pod's required node affinity: its nodeSelector and the required terms of
// its nodeAffinity. A value type; const access is thread-safe.
class RequiredNodeAffinity {
 public:
  explicit RequiredNodeAffinity(const Pod& pod);

  // Returns true if the node has all labels of the nodeSelector and matches at
  // least one of the required terms. A missing list of required terms matches
  // every node, an empty list matches no node.
  bool Matches(const Node& node) const;

 private:
  Labels node_selector_;
  std::optional<NodeSelectorMatcher> terms_;  // nullopt: not required
};

// The preferred terms of a nodeAffinity. A value type; const access is
// thread-safe.
class PreferredSchedulingTerms {
 public:
  // Ignores terms with weight 0. Throws ParseError if another term is
  // malformed. The message lists the errors of all terms, by path:
  // "[0].matchExpressions[1].key: Invalid value: ...".
  explicit PreferredSchedulingTerms(
      const std::vector<PreferredSchedulingTerm>& preferred);
  explicit PreferredSchedulingTerms(const Pod& pod)
      : PreferredSchedulingTerms(pod.spec.affinity.node_affinity.preferred) {}

  // Returns true if every node's score is zero, because no term has both a
  // weight and requirements.
  bool empty() const { return terms_.empty(); }

  // Returns the sum of the weights of the terms that the node matches.
  std::int64_t Score(const Node& node) const;

 private:
  struct WeightedTerm {
    std::int64_t weight;
    NodeTermMatcher matcher;
  };

  std::vector<WeightedTerm> terms_;
};

}  // namespace minisched
