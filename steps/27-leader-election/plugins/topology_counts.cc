#include "plugins/topology_counts.h"

#include <algorithm>
#include <utility>

namespace minisched {

void TopologyCounts::Update(const Node& node, const std::string& topology_key,
                            std::int64_t delta) {
  const auto label = node.metadata.labels.find(topology_key);
  if (label == node.metadata.labels.end()) return;
  Domains& domains = counts_[topology_key];
  const std::int64_t before = domains.Count(label->second);
  const std::int64_t after = before + delta;
  domains.own[label->second] = after;
  if (before == 0) ++non_zero_;
  if (after == 0) --non_zero_;
}

void TopologyCounts::Share() {
  for (auto& [topology_key, domains] : counts_) {
    domains.shared =
        std::make_shared<const Counts>(std::exchange(domains.own, {}));
  }
}

std::int64_t TopologyCounts::Domains::Count(const std::string& domain) const {
  for (const Counts* counts : {&own, shared.get()}) {
    const auto count = counts->find(domain);
    if (count != counts->end()) return count->second;
  }
  return 0;
}

std::int64_t TopologyCounts::Count(const Node& node,
                                   const std::string& topology_key) const {
  const auto domains = counts_.find(topology_key);
  const auto label = node.metadata.labels.find(topology_key);
  if (domains == counts_.end() || label == node.metadata.labels.end()) return 0;
  return domains->second.Count(label->second);
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
