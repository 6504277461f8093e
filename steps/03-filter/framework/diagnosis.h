#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>

#include "framework/status.h"

namespace minisched {

// The status of each node that a pod doesn't fit, by the node's name. Follows
// NodeToStatus of kube-scheduler's framework/interface.go.
class NodeToStatus {
 public:
  void Set(const std::string& node, Status status) {
    statuses_[node] = std::move(status);
  }

  // Returns null if no plugin has rejected the node.
  const Status* Find(const std::string& node) const {
    const auto status = statuses_.find(node);
    return status == statuses_.end() ? nullptr : &status->second;
  }

  // Pairs of a node's name and its status, in no particular order.
  auto begin() const { return statuses_.begin(); }
  auto end() const { return statuses_.end(); }

 private:
  std::unordered_map<std::string, Status> statuses_;
};

// Why a pod fits no node.
struct Diagnosis {
  NodeToStatus node_to_status;
};

// Returns the message for users about a pod that fits no node. It counts the
// reasons: "0/3 nodes are available: 1 node(s) were unschedulable, 2
// node(s) had untolerated taint(s)." Follows FitError of kube-scheduler's
// framework/types.go.
std::string FitError(std::size_t num_all_nodes, const Diagnosis& diagnosis);

}  // namespace minisched
