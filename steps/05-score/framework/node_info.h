#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
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
  // The requests of cpu and memory that scores count. They have
  // DefaultRequests() for containers without requests, which use resources too.
  Resource non_zero_requests;
  std::vector<HostPort> host_ports;
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
  // Creates a node without pods.
  explicit NodeInfo(std::shared_ptr<const Node> node);

  const Node& node() const { return *node_; }
  const std::vector<PodInfoPtr>& pods() const { return pods_; }
  // The resources that the node has for pods.
  const Resource& allocatable() const { return allocatable_; }
  // The sum of the requests of the node's pods.
  const Resource& requested() const { return requested_; }
  // The sum of the pods' non_zero_requests.
  const Resource& non_zero_requested() const { return non_zero_requested_; }
  const HostPortInfo& used_ports() const { return used_ports_; }
  // The images that the node has.
  const ImageSizes& image_sizes() const { return *image_sizes_; }

  void AddPod(PodInfoPtr pod);

 private:
  std::shared_ptr<const Node> node_;
  std::vector<PodInfoPtr> pods_;
  Resource allocatable_;
  Resource requested_;
  Resource non_zero_requested_;
  HostPortInfo used_ports_;
  std::shared_ptr<const ImageSizes> image_sizes_;  // copies share them
};

}  // namespace minisched
