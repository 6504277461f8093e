#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "framework.h"

namespace minisched {

// Scales the scores so that the highest becomes kMaxNodeScore. With `reverse`,
// it becomes 0 instead, and a score of 0 becomes kMaxNodeScore. Scores must not
// be negative. Follows plugins/helper/normalize_score.go.
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
