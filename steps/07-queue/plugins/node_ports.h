#pragma once

#include "framework/plugin.h"

namespace minisched {

// Rejects nodes on which a host port of the pod is in use. Follows
// plugins/nodeports.
class NodePorts final : public PreFilterPlugin, public FilterPlugin {
 public:
  std::string_view Name() const override { return "NodePorts"; }
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
};

}  // namespace minisched
