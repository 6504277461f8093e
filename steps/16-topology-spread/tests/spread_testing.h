#pragma once

#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <cstddef>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "framework/node_info.h"
#include "minisched/api/labels.h"
#include "minisched/api/node.h"
#include "minisched/api/pod.h"
#include "plugins/spread_counts.h"

// Helpers for tests of topology spread. Clusters are short texts, so that a
// case is a few lines.

namespace minisched {

inline std::vector<std::string> SplitAt(const std::string& text,
                                        const char* separators) {
  std::vector<std::string> parts;
  boost::split(parts, text, boost::is_any_of(separators));
  for (std::string& part : parts) boost::trim(part);
  std::erase(parts, "");
  return parts;
}

// Parses labels: "foo bar=a", where foo is empty. Also separated by commas.
inline Labels ParseLabels(const std::string& text) {
  Labels labels;
  for (const std::string& word : SplitAt(text, " ,")) {
    const std::size_t equals = word.find('=');
    labels[word.substr(0, equals)] =
        equals == std::string::npos ? "" : word.substr(equals + 1);
  }
  return labels;
}

// Parses a selector: "none" (there is none), "all" (an empty one), "foo=bar" or
// "foo", which the pods with any label foo match.
inline std::optional<LabelSelector> ParseSelector(const std::string& text) {
  if (text == "none") return std::nullopt;
  LabelSelector selector;
  if (text == "all") return selector;
  if (text.find('=') != std::string::npos) {
    selector.match_labels = ParseLabels(text);
  } else {
    selector.match_expressions = {{text, "Exists", {}}};
  }
  return selector;
}

// Parses constraints: "1 zone foo; 2 node bar soft min=3 taints=Honor". The
// first words are maxSkew, the topology key and the selector.
inline std::vector<TopologySpreadConstraint> ParseConstraints(
    const std::string& text) {
  std::vector<TopologySpreadConstraint> constraints;
  for (const std::string& one : SplitAt(text, ";")) {
    const std::vector<std::string> words = SplitAt(one, " ");
    TopologySpreadConstraint constraint;
    constraint.max_skew = std::stoi(words.at(0));
    constraint.topology_key = words.at(1);
    constraint.label_selector = ParseSelector(words.at(2));
    constraint.when_unsatisfiable = "DoNotSchedule";
    for (std::size_t i = 3; i < words.size(); ++i) {
      const std::string value = words[i].substr(words[i].find('=') + 1);
      if (words[i] == "soft") constraint.when_unsatisfiable = "ScheduleAnyway";
      if (words[i].starts_with("min=")) constraint.min_domains = stoi(value);
      if (words[i].starts_with("affinity=")) {
        constraint.node_affinity_policy = value;
      }
      if (words[i].starts_with("taints="))
        constraint.node_taints_policy = value;
      if (words[i].starts_with("keys=")) {
        constraint.match_label_keys = SplitAt(value, ",");
      }
    }
    constraints.push_back(std::move(constraint));
  }
  return constraints;
}

// A pod and a cluster.
struct SpreadCluster {
  std::string constraints;
  // The pod's labels.
  std::string labels = "foo";
  // Its required node affinity: "foo In bar,baz" or "foo NotIn bar".
  std::string affinity = "";
  bool tolerates = false;  // all taints
  // The nodes: the names and labels. "!tainted" is a taint with NoSchedule.
  std::string nodes =
      "a zone=1 node=a; b zone=1 node=b; x zone=2 node=x; y zone=2 node=y";
  // The pods on the nodes: the node, the labels, and perhaps a namespace.
  // "a:foo,bar a:foo/ns1 b:foo~", where "~" is a pod that is terminating.
  std::string pods = "";
};

inline Pod PodToSpread(const SpreadCluster& cluster) {
  Pod pod;
  pod.metadata.namespace_name = "default";
  pod.metadata.name = pod.metadata.uid = "p";
  pod.metadata.labels = ParseLabels(cluster.labels);
  pod.spec.topology_spread_constraints = ParseConstraints(cluster.constraints);
  if (cluster.tolerates) pod.spec.tolerations = {{.operation = "Exists"}};
  if (!cluster.affinity.empty()) {
    std::istringstream words(cluster.affinity);
    NodeSelectorRequirement requirement;
    std::string values;
    words >> requirement.key >> requirement.op >> values;
    requirement.values = {values};
    if (!values.empty()) requirement.values = SplitAt(values, ",");
    NodeSelectorTerm term;
    term.match_expressions = {requirement};
    pod.spec.affinity.node_affinity.required = NodeSelector{{term}};
  }
  return pod;
}

// Parses one pod on a node.
inline Pod PodOnNode(std::string text) {
  Pod pod;
  if (text.ends_with('~')) {
    text.pop_back();
    pod.metadata.deletion_timestamp = Time();
  }
  pod.metadata.namespace_name = "default";
  if (const std::size_t slash = text.find('/'); slash != std::string::npos) {
    pod.metadata.namespace_name = text.substr(slash + 1);
    text.resize(slash);
  }
  const std::size_t colon = text.find(':');
  pod.spec.node_name = text.substr(0, colon);
  pod.metadata.labels = ParseLabels(text.substr(colon + 1));
  return pod;
}

// The NodeInfos of a cluster's nodes, with their pods. Not copyable, because
// `nodes` points into it.
class SpreadNodes {
 public:
  explicit SpreadNodes(const SpreadCluster& cluster) {
    for (const std::string& text : SplitAt(cluster.nodes, ";")) {
      Node node;
      node.metadata.labels = ParseLabels(text.substr(text.find(' ') + 1));
      node.metadata.name = text.substr(0, text.find(' '));
      if (node.metadata.labels.erase("!tainted") > 0) {
        node.spec.taints = {{.key = "node.kubernetes.io/unschedulable",
                             .effect = "NoSchedule"}};
      }
      by_name_.emplace(node.metadata.name,
                       NodeInfo(std::make_shared<const Node>(node)));
    }
    int number = 0;
    for (const std::string& text : SplitAt(cluster.pods, " ")) {
      Pod pod = PodOnNode(text);
      pod.metadata.name = pod.metadata.uid = "p" + std::to_string(++number);
      NodeInfo& node = by_name_.at(pod.spec.node_name);
      node.AddPod(NewPodInfo(std::make_shared<const Pod>(std::move(pod))));
    }
    for (const auto& [name, node] : by_name_) all_.push_back(&node);
  }
  SpreadNodes(const SpreadNodes&) = delete;
  SpreadNodes& operator=(const SpreadNodes&) = delete;

  const Nodes& all() const { return all_; }
  NodeInfo& Get(const std::string& name) { return by_name_.at(name); }

 private:
  std::map<std::string, NodeInfo> by_name_;
  Nodes all_;
};

// Describes counts whose domains are among those of `expected`: "1=3 2=2 |
// a=2". The parts are the constraints. Adds the number of domains and the
// smallest count if they differ from those of the listed domains.
inline std::string DescribeCounts(const SpreadCounts& counts,
                                  const std::string& expected) {
  const std::vector<std::string> parts = SplitAt(expected, "|");
  if (parts.size() != counts.domains().size()) {
    return std::to_string(counts.domains().size()) + " constraints";
  }
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const TopologyDomains& domains = counts.domains()[i];
    const Labels listed = ParseLabels(parts[i]);
    int least = std::numeric_limits<int>::max();
    for (const auto& [domain, unused] : listed) {
      const int count = domains.Count(domain);
      least = std::min(least, count);
      text += (text.empty() || text.ends_with("| ") ? "" : " ") + domain + "=" +
              std::to_string(count);
    }
    if (domains.size() != static_cast<int>(listed.size())) {
      text += ", " + std::to_string(domains.size()) + " domains";
    }
    if (domains.Min() != least) {
      text += ", least " + std::to_string(domains.Min());
    }
    if (i + 1 < parts.size()) text += " | ";
  }
  return text;
}

}  // namespace minisched
