#pragma once

#include <string>
#include <utility>

namespace minisched {

// What a failed attempt does to the pod's nominated node: nothing, or it
// overrides the node. An empty name clears the field. Follows NominatingInfo of
// k8s.io/kube-scheduler/framework.
struct NominatingInfo {
  enum class Mode { kNoop, kOverride };

  static NominatingInfo Override(std::string node) {
    return {Mode::kOverride, std::move(node)};
  }

  Mode mode = Mode::kNoop;
  std::string node_name = {};
};

}  // namespace minisched
