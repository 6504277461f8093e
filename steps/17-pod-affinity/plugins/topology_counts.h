#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "minisched/api/node.h"

namespace minisched {

// Counts of pods by domain. Unlike TopologyDomains, it has any number of
// topologies, keeps no domains whose count is 0, and has no minimum. Const
// access is thread-safe. Follows topologyToMatchedTermCount of
// plugins/interpodaffinity/filtering.go.
class TopologyCounts {
 public:
  // Adds `delta` to the count of the node's domain in this topology. Does
  // nothing if the node has no such label.
  void Update(const Node& node, const std::string& topology_key,
              std::int64_t delta);

  // Returns the count of the node's domain, or 0 if the node has no such label.
  std::int64_t Count(const Node& node, const std::string& topology_key) const;
  // Returns true if the count of one of the node's domains, in any topology, is
  // positive.
  bool CountsAny(const Node& node) const;
  // Returns true if all counts are 0.
  bool Empty() const { return counts_.empty(); }

 private:
  // By topology key, then by domain.
  std::map<std::string, std::unordered_map<std::string, std::int64_t>> counts_;
};

}  // namespace minisched
