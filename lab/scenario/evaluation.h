#pragma once

#include <string>
#include <vector>

#include "lab/scenario/cluster_state.h"
#include "lab/scenario/scenario.h"
#include "minisched/api/node.h"
#include "minisched/api/pod.h"

namespace minisched::scenario {

struct Verdict {
  enum class Kind {
    kMet,
    kNotYet,  // not met, but may be met later
    kBroken   // can't be met any more
  };
  Kind kind = Kind::kMet;
  std::string found;  // the actual state; empty if met
  // Names of the pods that explain the verdict.
  std::vector<std::string> pods = {};
};

// Returns whether the state of the cluster meets the expectation.
Verdict Evaluate(const Expectation& expectation, const ClusterState& state);

// Returns true if the expectation can be a rule of `throughout`: a state of
// pods and nodes can break the expectation permanently, and its evaluation
// needs no events, requests or metrics.
bool CanBeWatched(const Expectation& expectation);

// Formats a pod: "web-1: on node-1, Running",
// "web-2: no node, Unschedulable: 0/3 nodes …".
std::string DescribePod(const Pod& pod);

// Formats the cordon and the taints of a node: "node gpu-1: cordoned, taint
// gpu=yes:NoSchedule". Returns "" if the node has neither.
std::string DescribeNode(const Node& node);

}  // namespace minisched::scenario
