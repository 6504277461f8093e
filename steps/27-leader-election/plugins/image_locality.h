#pragma once

#include "framework/handle.h"
#include "framework/plugin.h"

namespace minisched {

// Prefers nodes that already have large images of the pod. An image that few
// nodes have counts less, so that these nodes don't get all pods. Follows
// plugins/imagelocality.
class ImageLocality final : public PreScorePlugin, public ScorePlugin {
 public:
  explicit ImageLocality(const Handle& handle) : handle_(handle) {}

  std::string_view Name() const override { return "ImageLocality"; }
  // Counts the nodes that have each image of the pod.
  Status PreScore(CycleState& state, const Pod& pod,
                  const Nodes& nodes) const override;
  Status Score(const CycleState& state, const Pod& pod, const NodeInfo& node,
               std::int64_t& score) const override;

 private:
  const Handle handle_;
};

}  // namespace minisched
