#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "minisched/api/host_ports.h"
#include "minisched/api/node.h"
#include "minisched/api/pod.h"
#include "minisched/api/resource.h"

namespace minisched {

// A pod, with the data that NodeInfo needs. Follows PodInfo of kube-scheduler's
// framework/types.go.
struct PodInfo {
  std::shared_ptr<const Pod> pod;
  // What the pod requests. While the pod is resized, the amounts in its status
  // count too: see PodRequestsOptions::use_status_resources.
  Resource requests;
  std::vector<HostPort> host_ports;
};
using PodInfoPtr = std::shared_ptr<const PodInfo>;

PodInfoPtr NewPodInfo(std::shared_ptr<const Pod> pod);

// A node and its pods, with the data that plugins need. A copy is independent.
// Const access is thread-safe. Follows NodeInfo of kube-scheduler's
// framework/types.go.
class NodeInfo {
 public:
  // Creates a node without pods.
  explicit NodeInfo(std::shared_ptr<const Node> node);

  const Node& node() const { return *node_; }
  const std::vector<PodInfoPtr>& pods() const { return pods_; }
  // The resources that the node has for pods.
  const Resource& allocatable() const { return allocatable_; }
  // The sum of the requests of the node's pods.
  const Resource& requested() const { return requested_; }
  const HostPortInfo& used_ports() const { return used_ports_; }

  void AddPod(PodInfoPtr pod);

 private:
  std::shared_ptr<const Node> node_;
  std::vector<PodInfoPtr> pods_;
  Resource allocatable_;
  Resource requested_;
  HostPortInfo used_ports_;
};

}  // namespace minisched
