#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "framework/plugin.h"

namespace minisched {

// Scales the scores so that the highest becomes kMaxNodeScore, unless all are
// 0. With `reverse`, then subtracts each from kMaxNodeScore, so that a lower
// score becomes a higher one. Scores must not be negative. Follows
// plugins/helper/normalize_score.go.
inline void DefaultNormalizeScore(bool reverse,
                                  std::vector<NodeScore>& scores) {
  std::int64_t highest = 0;
  for (const NodeScore& score : scores) {
    highest = std::max(highest, score.score);
  }
  for (NodeScore& score : scores) {
    if (highest > 0) score.score = kMaxNodeScore * score.score / highest;
    if (reverse) score.score = kMaxNodeScore - score.score;
  }
}

}  // namespace minisched
