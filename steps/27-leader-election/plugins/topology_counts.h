#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "minisched/api/node.h"

namespace minisched {

// Counts of pods, or points for pods, by domain. Unlike TopologyDomains, it has
// any number of topologies and domains, and no minimum. Const access is
// thread-safe. Follows topologyToMatchedTermCount of
// plugins/interpodaffinity/filtering.go.
class TopologyCounts {
 public:
  // Adds `delta` to the count of the node's domain in this topology. Does
  // nothing if the node has no such label.
  void Update(const Node& node, const std::string& topology_key,
              std::int64_t delta);
  // Makes copies cheap: they share the counts so far, and each copy has only
  // later changes of its own. Call it at most once.
  void Share();

  // Returns the count of the node's domain, or 0 if the node has no such label.
  std::int64_t Count(const Node& node, const std::string& topology_key) const;
  // Returns true if the count of one of the node's domains, in any topology, is
  // positive.
  bool CountsAny(const Node& node) const;
  // Returns the sum of the counts of the node's domains in all topologies.
  std::int64_t Sum(const Node& node) const;
  // Returns true if all counts are 0.
  bool Empty() const { return non_zero_ == 0; }

 private:
  using Counts = std::unordered_map<std::string, std::int64_t>;

  // The counts of one topology, by domain.
  struct Domains {
    std::int64_t Count(const std::string& domain) const;

    Counts own;
    // Those that `own` doesn't replace.
    std::shared_ptr<const Counts> shared = std::make_shared<const Counts>();
  };

  std::map<std::string, Domains> counts_;  // by topology key
  std::size_t non_zero_ = 0;               // how many counts are not 0
};

}  // namespace minisched
