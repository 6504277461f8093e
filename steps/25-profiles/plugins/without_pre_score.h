#pragma once

#include <cstdint>

#include "framework/plugin.h"

namespace minisched {

// Runs Score of a plugin whose PreScore has not run, because a profile disables
// it: runs PreScore for this node alone. kube-scheduler's plugins fail without
// PreScore, except NodeAffinity, NodeResourcesFit and
// NodeResourcesBalancedAllocation, which do the same.
template <class T>
Status ScoreWithoutPreScore(const T& plugin, const Pod& pod,
                            const NodeInfo& node, std::int64_t& score) {
  CycleState state;
  const Status status = plugin.PreScore(state, pod, {});
  if (status.code() == Code::kSkip) return {};
  return status.IsSuccess() ? plugin.Score(state, pod, node, score) : status;
}

}  // namespace minisched
