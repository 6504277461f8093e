#pragma once

#include <map>
#include <string>
#include <vector>

#include "lab/apiserver/server.h"
#include "minisched/api/host_ports.h"
#include "minisched/api/node.h"
#include "minisched/api/pod.h"
#include "minisched/api/resource.h"

namespace minisched::explain {

// A host port in use, and the pod that holds it.
struct PortHolder {
  HostPort port;
  ObjectMeta pod;
};

// The fields of a pod on a node that rules about other pods and volumes, and
// preemption, read.
struct PlacedPod {
  ObjectMeta metadata;
  std::int32_t priority = 0;
  Time start;  // see PodStartTime()
  std::vector<PodAffinityTerm> required_anti_affinity;
  std::vector<std::string> claims;  // see ClaimKeys()
  std::vector<Volume> disks;        // those with HasInlineDisk()
};

// A node, and what its pods take.
struct NodeState {
  Node node;
  Resource allocatable;
  Resource requested;
  int pods = 0;
  std::vector<PortHolder> ports;
  std::vector<PlacedPod> placed;

  explicit NodeState(Node object);
  void AddPod(const Pod& pod);
  // Returns the amount that is free of a resource; may be negative.
  Amount Free(const std::string& resource) const;
  // True if the node takes no more pods.
  bool IsFull() const { return pods >= allocatable.allowed_pod_number; }
};

// Returns an amount: of cpu in thousandths, else in units.
Amount AmountOf(const Resource& amounts, const std::string& resource);

using NodeStates = std::map<std::string, NodeState>;  // by name

// Reads the nodes and the pods of a server that runs.
NodeStates ReadNodes(apiserver::Server& server);

using NamespaceLabels = std::map<std::string, Labels>;  // by name

// Reads the labels of the namespaces of a server that runs.
NamespaceLabels ReadNamespaces(apiserver::Server& server);

}  // namespace minisched::explain
