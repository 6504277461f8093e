#include "plugins/spread_score.h"

#include <cmath>
#include <cstddef>
#include <utility>

#include "minisched/api/node_affinity.h"

namespace minisched {
namespace {

// Returns the node's domain: "" if the node doesn't have the label.
const std::string& DomainOf(const Node& node, const std::string& topology_key) {
  static const std::string none;
  const auto label = node.metadata.labels.find(topology_key);
  return label == node.metadata.labels.end() ? none : label->second;
}

}  // namespace

SpreadScore::SpreadScore(const Pod& pod, SpreadConstraints constraints,
                         bool require_all, const Nodes& feasible,
                         const Nodes& nodes)
    : constraints_(std::move(constraints)),
      require_all_(require_all),
      topologies_(constraints_.size()) {
  AddDomains(feasible);
  CountPods(pod, nodes);
}

void SpreadScore::AddDomains(const Nodes& feasible) {
  std::size_t scored = 0;
  for (const NodeInfo* node : feasible) {
    if (Ignores(node->node())) continue;
    ++scored;
    for (std::size_t i = 0; i < constraints_.size(); ++i) {
      const std::string& key = constraints_[i].topology_key;
      if (key == kHostname) continue;
      topologies_[i].domains.try_emplace(DomainOf(node->node(), key));
    }
  }
  for (std::size_t i = 0; i < constraints_.size(); ++i) {
    const std::size_t size = constraints_[i].topology_key == kHostname
                                 ? scored
                                 : topologies_[i].domains.size();
    topologies_[i].weight = std::log(static_cast<double>(size + 2));
  }
}

void SpreadScore::CountPods(const Pod& pod, const Nodes& nodes) {
  const RequiredNodeAffinity affinity(pod);
  for (const NodeInfo* node : nodes) {
    if (Ignores(node->node())) continue;
    for (std::size_t i = 0; i < constraints_.size(); ++i) {
      const SpreadConstraint& constraint = constraints_[i];
      auto& domains = topologies_[i].domains;
      const auto domain =
          domains.find(DomainOf(node->node(), constraint.topology_key));
      if (domain == domains.end()) continue;
      if (!constraint.IncludesNode(node->node(), pod, affinity)) continue;
      domain->second += constraint.CountPods(*node, pod);
    }
  }
}

std::int64_t SpreadScore::Score(const Pod& pod, const NodeInfo& node) const {
  if (Ignores(node.node())) return 0;
  double cost = 0;
  for (std::size_t i = 0; i < constraints_.size(); ++i) {
    const SpreadConstraint& constraint = constraints_[i];
    const auto label =
        node.node().metadata.labels.find(constraint.topology_key);
    if (label == node.node().metadata.labels.end()) continue;
    const int pods = constraint.topology_key == kHostname
                         ? constraint.CountPods(node, pod)
                         : topologies_[i].domains.at(label->second);
    cost += pods * topologies_[i].weight + (constraint.max_skew - 1);
  }
  return std::llround(cost);
}

}  // namespace minisched
