#include "framework/node_info.h"

#include "minisched/api/pod_requests.h"

namespace minisched {

PodInfoPtr NewPodInfo(std::shared_ptr<const Pod> pod) {
  PodInfo info{
      .requests = Resource(PodRequests(*pod, {.use_status_resources = true})),
      .host_ports = GetHostPorts(*pod)};
  info.pod = std::move(pod);
  return std::make_shared<const PodInfo>(std::move(info));
}

NodeInfo::NodeInfo(std::shared_ptr<const Node> node)
    : node_(std::move(node)), allocatable_(node_->status.allocatable) {}

void NodeInfo::AddPod(PodInfoPtr pod) {
  requested_ += pod->requests;
  for (const HostPort& port : pod->host_ports) used_ports_.Add(port);
  pods_.push_back(std::move(pod));
}

}  // namespace minisched
