#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "minisched/api/pod.h"

namespace minisched {

// A port of the node that a container uses.
struct HostPort {
  std::string ip;  // "0.0.0.0": all addresses of the node
  std::string protocol;
  std::int32_t port = 0;
};

// Returns the host ports of the pod's containers and sidecars. Those of other
// init containers don't count. Follows GetHostPorts of kube-scheduler's
// util/utils.go.
std::vector<HostPort> GetHostPorts(const Pod& pod);

// The host ports that are in use on a node. Follows HostPortInfo of
// k8s.io/kube-scheduler/framework.
class HostPortInfo {
 public:
  void Add(const HostPort& port);
  // Removes a port that has been added. If it has been added twice, one stays.
  void Remove(const HostPort& port);

  // Returns true if the port is in use with the same protocol, and the two
  // addresses are the same or one of them means all addresses.
  bool CheckConflict(const HostPort& port) const;

 private:
  // The addresses, by protocol and port.
  std::multimap<std::pair<std::string, std::int32_t>, std::string> used_;
};

}  // namespace minisched
