#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
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

  // Sets one status for all nodes that have none, except for those in `except`.
  // This costs less than a status for each of them.
  void SetAbsentNodesStatus(Status status, std::set<std::string> except = {}) {
    absent_nodes_status_ = std::move(status);
    except_ = std::move(except);
  }
  // Returns success if SetAbsentNodesStatus() was not called.
  const Status& absent_nodes_status() const { return absent_nodes_status_; }

  // Returns null if no plugin has rejected the node.
  const Status* Find(const std::string& node) const {
    const auto status = statuses_.find(node);
    if (status != statuses_.end()) return &status->second;
    const bool fits =
        absent_nodes_status_.IsSuccess() || except_.contains(node);
    return fits ? nullptr : &absent_nodes_status_;
  }

  // The nodes with a status of their own, as pairs of name and status, in no
  // particular order.
  auto begin() const { return statuses_.begin(); }
  auto end() const { return statuses_.end(); }
  std::size_t size() const { return statuses_.size(); }

 private:
  std::unordered_map<std::string, Status> statuses_;
  Status absent_nodes_status_;
  std::set<std::string> except_;
};

// Why a pod fits no node.
struct Diagnosis {
  NodeToStatus node_to_status;
  // Why PreFilter rejected the pod for all nodes; empty if PreFilter did not,
  // or gave no reason.
  std::string pre_filter_message;
  // The names of the plugins that rejected the pod on a node or on all nodes.
  std::set<std::string_view> unschedulable_plugins;

  // Records the plugin that returned the rejection, if a plugin did.
  void AddPluginStatus(const Status& status) {
    if (status.plugin().empty()) return;
    unschedulable_plugins.insert(status.plugin());
  }
};

// Returns the message for users about a pod that fits no node. It counts the
// reasons: "0/3 nodes are available: 1 node(s) were unschedulable, 2
// node(s) had untolerated taint(s)." If PreFilter rejected the pod, the message
// has pre_filter_message instead. Follows FitError of kube-scheduler's
// framework/types.go.
std::string FitError(std::size_t num_all_nodes, const Diagnosis& diagnosis);

// How many nodes there are for each reason.
using ReasonCounts = std::map<std::string, std::size_t>;

// Returns the same message for reasons that have been counted.
std::string FitMessage(std::size_t num_all_nodes, const ReasonCounts& counts);

}  // namespace minisched
