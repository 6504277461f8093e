#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>

#include "minisched/api/pod.h"
#include "tests/random_cluster_testing.h"

// A model of the scores: slow, obvious code for the documented formulas. It
// shares no code with the plugins except the API types.

namespace minisched {

// The scores that a plugin gives a node.
struct ModelPoints {
  std::int64_t raw = 0;
  std::int64_t normalized = 0;
  std::int64_t weighted = 0;

  bool operator==(const ModelPoints&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const ModelPoints& p) {
    return out << p.raw << " -> " << p.normalized << " -> " << p.weighted;
  }
};

// By plugin and node.
using ModelScores = std::map<std::string, std::map<std::string, ModelPoints>>;

// Returns the scores of the nodes for which ModelFilter() returns success.
// Leaves out the plugins that skip the pod.
ModelScores ModelScore(const RandomCluster& cluster, const Pod& pod);

// Returns the sum of the weighted scores of each node.
std::map<std::string, std::int64_t> ModelTotals(const ModelScores& scores);

}  // namespace minisched
