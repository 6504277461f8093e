#pragma once

#include <string_view>

#include "framework/cycle_state.h"
#include "framework/node_info.h"
#include "framework/status.h"
#include "minisched/api/pod.h"

namespace minisched {

// An extension of the scheduler that runs at one or more extension points.
// Follows k8s.io/kube-scheduler/framework.
class Plugin {
 public:
  virtual ~Plugin() = default;

  virtual std::string_view Name() const = 0;
};

// A plugin that rejects the nodes that a pod can't run on.
class FilterPlugin : public virtual Plugin {
 public:
  // Returns success if the pod fits the node.
  virtual Status Filter(const CycleState& state, const Pod& pod,
                        const NodeInfo& node) const = 0;
};

}  // namespace minisched
