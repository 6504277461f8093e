#include "minisched/api/host_ports.h"

#include <algorithm>

namespace minisched {
namespace {

constexpr char kAllAddresses[] = "0.0.0.0";

void AddHostPorts(const Container& container, std::vector<HostPort>& ports) {
  for (const ContainerPort& port : container.ports) {
    if (port.host_port <= 0) continue;
    ports.push_back({port.host_ip.empty() ? kAllAddresses : port.host_ip,
                     port.protocol.empty() ? "TCP" : port.protocol,
                     port.host_port});
  }
}

}  // namespace

std::vector<HostPort> GetHostPorts(const Pod& pod) {
  std::vector<HostPort> ports;
  for (const Container& container : pod.spec.init_containers) {
    if (container.restart_policy == "Always") AddHostPorts(container, ports);
  }
  for (const Container& container : pod.spec.containers) {
    AddHostPorts(container, ports);
  }
  return ports;
}

void HostPortInfo::Add(const HostPort& port) {
  used_.emplace(std::pair(port.protocol, port.port), port.ip);
}

void HostPortInfo::Remove(const HostPort& port) {
  const auto [first, last] = used_.equal_range({port.protocol, port.port});
  const auto used = std::find_if(
      first, last, [&](const auto& entry) { return entry.second == port.ip; });
  if (used != last) used_.erase(used);
}

bool HostPortInfo::CheckConflict(const HostPort& port) const {
  const auto [first, last] = used_.equal_range({port.protocol, port.port});
  return std::any_of(first, last, [&](const auto& used) {
    return used.second == port.ip || used.second == kAllAddresses ||
           port.ip == kAllAddresses;
  });
}

}  // namespace minisched
