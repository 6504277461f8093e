#pragma once

#include <algorithm>

#include "framework/plugin.h"

namespace minisched {

// Rejects nodes on which a host port of the pod is in use. Follows
// plugins/nodeports.
class NodePorts final : public PreFilterPlugin, public FilterPlugin {
 public:
  std::string_view Name() const override { return "NodePorts"; }
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    return {{{EventResource::kAssignedPod, action::kDelete}, AfterPodDeleted},
            {{EventResource::kNode, action::kAdd}}};
  }
  Status PreFilter(CycleState& state, const Pod& pod, const Nodes& /*nodes*/,
                   PreFilterResult& /*result*/) const override {
    std::vector<HostPort> ports = GetHostPorts(pod);
    if (ports.empty()) return Code::kSkip;
    state.Write(PodPorts{std::move(ports)});
    return {};
  }
  Status Filter(const CycleState& state, const Pod& /*pod*/,
                const NodeInfo& node) const override {
    for (const HostPort& port : state.Read<PodPorts>().ports) {
      if (!node.used_ports().CheckConflict(port)) continue;
      return {Code::kUnschedulable,
              "node(s) didn't have free ports for the requested pod ports"};
    }
    return {};
  }

 private:
  struct PodPorts {
    std::vector<HostPort> ports;
  };

  static QueueingHint AfterPodDeleted(const Pod& pod,
                                      const ClusterChange& change) {
    HostPortInfo freed;
    for (const HostPort& port : GetHostPorts(*change.Old<Pod>())) {
      freed.Add(port);
    }
    const std::vector<HostPort> ports = GetHostPorts(pod);
    return QueueIf(std::any_of(
        ports.begin(), ports.end(),
        [&](const HostPort& port) { return freed.CheckConflict(port); }));
  }
};

}  // namespace minisched
