#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "framework/node_info.h"
#include "minisched/api/pod.h"
#include "minisched/base/mutex.h"

namespace minisched {

// The nominations: which pending pods wait for resources that a preemption
// frees, and on which nodes. The API server has them in
// status.nominatedNodeName, but a little later. Thread-safe. Follows
// kube-scheduler's backend/queue/nominator.go.
class Nominator {
 public:
  // Nominates the pod to the node, or to none if the name is empty. Returns the
  // node to which it was nominated before, or an empty name.
  std::string Nominate(const Pod& pod, const std::string& node) EXCLUDES(mu_);

  // Returns the node to which the pod is nominated, or an empty name.
  std::string NominatedNode(const Pod& pod) const EXCLUDES(mu_);

  // Returns the pods that are nominated to the node.
  std::vector<PodInfoPtr> NominatedPodsForNode(const std::string& node) const
      EXCLUDES(mu_);

 private:
  // No other lock is taken under this one.
  mutable Mutex mu_;
  std::unordered_map<std::string, std::vector<PodInfoPtr>> pods_
      GUARDED_BY(mu_);  // by node, none of them empty
  std::unordered_map<std::string, std::string> nodes_
      GUARDED_BY(mu_);  // by the pod's uid
};

}  // namespace minisched
