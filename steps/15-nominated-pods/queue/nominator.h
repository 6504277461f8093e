#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "framework/node_info.h"
#include "minisched/api/pod.h"
#include "minisched/base/mutex.h"

namespace minisched {

// Which pending pod waits for the resources of which node: a preemption frees
// them there. Knows it before the API server does, which has it in
// status.nominatedNodeName. Thread-safe. Follows kube-scheduler's
// backend/queue/nominator.go.
class Nominator {
 public:
  // Nominates the pod to the node, instead of to its node so far. An empty name
  // ends the nomination. Returns the node so far; empty if there was none.
  std::string Nominate(const Pod& pod, const std::string& node) EXCLUDES(mu_);

  // Returns the node that the pod is nominated to; empty if there is none.
  std::string NominatedNode(const Pod& pod) const EXCLUDES(mu_);

  // Returns the pods that are nominated to the node.
  std::vector<PodInfoPtr> NominatedPodsForNode(const std::string& node) const
      EXCLUDES(mu_);

 private:
  // The last lock to take: nothing is called under it.
  mutable Mutex mu_;
  std::unordered_map<std::string, std::vector<PodInfoPtr>> pods_
      GUARDED_BY(mu_);  // by node, none of them empty
  std::unordered_map<std::string, std::string> nodes_
      GUARDED_BY(mu_);  // by the pod's uid
};

}  // namespace minisched
