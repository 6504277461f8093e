#include "plugins/topology_counts.h"

#include <algorithm>

namespace minisched {

void TopologyCounts::Update(const Node& node, const std::string& topology_key,
                            std::int64_t delta) {
  const auto label = node.metadata.labels.find(topology_key);
  if (label == node.metadata.labels.end()) return;
  auto& domains = counts_[topology_key];
  std::int64_t& count = domains[label->second];
  count += delta;
  if (count != 0) return;
  domains.erase(label->second);
  if (domains.empty()) counts_.erase(topology_key);
}

std::int64_t TopologyCounts::Count(const Node& node,
                                   const std::string& topology_key) const {
  const auto domains = counts_.find(topology_key);
  const auto label = node.metadata.labels.find(topology_key);
  if (domains == counts_.end() || label == node.metadata.labels.end()) return 0;
  const auto count = domains->second.find(label->second);
  return count == domains->second.end() ? 0 : count->second;
}

bool TopologyCounts::CountsAny(const Node& node) const {
  return std::ranges::any_of(counts_, [&](const auto& topology) {
    return Count(node, topology.first) > 0;
  });
}

std::int64_t TopologyCounts::Sum(const Node& node) const {
  std::int64_t sum = 0;
  for (const auto& [topology_key, domains] : counts_) {
    sum += Count(node, topology_key);
  }
  return sum;
}

}  // namespace minisched
