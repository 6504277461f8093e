#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "framework/affinity_term.h"
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
  // The requests of cpu and memory that scores count. They have
  // DefaultRequests() for containers without requests, which use resources too.
  Resource non_zero_requests;
  std::vector<HostPort> host_ports;
  AffinityTerms affinity_terms;
  std::vector<std::string> claims;  // of its volumes: "namespace/name"
};
using PodInfoPtr = std::shared_ptr<const PodInfo>;

PodInfoPtr NewPodInfo(std::shared_ptr<const Pod> pod);

// Returns the requests that scores assume for a container without requests:
// 100m of cpu and 200Mi of memory.
ResourceList DefaultRequests();

// The sizes of images in bytes, by name.
using ImageSizes = std::unordered_map<std::string, std::int64_t>;

// A node and its pods, with the data that plugins need. A copy is independent.
// Const access is thread-safe. Follows NodeInfo of kube-scheduler's
// framework/types.go.
class NodeInfo {
 public:
  // Creates a NodeInfo with neither a node nor pods.
  NodeInfo() = default;
  // Creates a node without pods.
  explicit NodeInfo(std::shared_ptr<const Node> node) {
    SetNode(std::move(node));
  }

  // False if there are only pods: the cache got them before their node, or the
  // node was deleted before them. Then node() and image_sizes() must not be
  // called.
  bool has_node() const { return node_ != nullptr; }
  const Node& node() const { return *node_; }
  const std::vector<PodInfoPtr>& pods() const { return pods_; }
  // Those of the pods that have required anti-affinity.
  const std::vector<PodInfoPtr>& pods_with_required_anti_affinity() const {
    return pods_with_required_anti_affinity_;
  }
  // Those of the pods whose terms count for scores: required or preferred
  // affinity, or preferred anti-affinity.
  const std::vector<PodInfoPtr>& pods_with_affinity() const {
    return pods_with_affinity_;
  }
  // Those of the pods that have claims.
  const std::vector<PodInfoPtr>& pods_with_claims() const {
    return pods_with_claims_;
  }
  // The resources that the node has for pods.
  const Resource& allocatable() const { return allocatable_; }
  // The sum of the requests of the node's pods.
  const Resource& requested() const { return requested_; }
  // The sum of the pods' non_zero_requests.
  const Resource& non_zero_requested() const { return non_zero_requested_; }
  const HostPortInfo& used_ports() const { return used_ports_; }
  // No pod has a lower priority, nor had one since the node was empty.
  std::int32_t lowest_priority() const { return lowest_priority_; }
  // The images that the node has.
  const ImageSizes& image_sizes() const { return *image_sizes_; }

  void AddPod(PodInfoPtr pod);
  // Does nothing if the node doesn't have the pod.
  void RemovePod(const std::string& uid);
  // Replaces the node; the pods stay.
  void SetNode(std::shared_ptr<const Node> node);
  // Removes the node; the pods stay.
  void RemoveNode();

  // The number of the last change of this NodeInfo. The cache numbers the
  // changes of all its NodeInfos together.
  std::uint64_t generation() const { return generation_; }
  void set_generation(std::uint64_t generation) { generation_ = generation; }

 private:
  std::uint64_t generation_ = 0;
  std::shared_ptr<const Node> node_;
  std::vector<PodInfoPtr> pods_;
  std::vector<PodInfoPtr> pods_with_required_anti_affinity_;
  std::vector<PodInfoPtr> pods_with_affinity_;
  std::vector<PodInfoPtr> pods_with_claims_;
  Resource allocatable_;
  Resource requested_;
  Resource non_zero_requested_;
  HostPortInfo used_ports_;
  std::int32_t lowest_priority_ = std::numeric_limits<std::int32_t>::max();
  std::shared_ptr<const ImageSizes> image_sizes_;  // copies share them
};

}  // namespace minisched
