#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "minisched/api/node.h"
#include "minisched/api/pod.h"

namespace minisched {

// A cluster for tests that compare with the model in model_testing.h.
struct RandomCluster {
  std::vector<std::shared_ptr<const Node>> nodes;
  std::vector<std::shared_ptr<const Pod>> pods;     // on the nodes
  std::vector<std::shared_ptr<const Pod>> pending;  // to schedule
};

// Returns a random cluster. The same seed returns the same cluster. Names,
// labels, taints, ports and amounts come from small sets, so that pods fit some
// of the nodes and collide on others. Amounts are whole millicores or units.
RandomCluster DrawCluster(std::uint64_t seed);

// Returns the seed of the first cluster; the others have the next ones. Failing
// tests print the seed of their cluster.
std::uint64_t FirstSeed();

// Returns the message of a test that fails for a pod.
std::string Reproduce(std::uint64_t seed, const RandomCluster& cluster,
                      const Pod& pod);

}  // namespace minisched
