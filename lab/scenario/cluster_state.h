#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "lab/scenario/prometheus.h"
#include "minisched/api/node.h"
#include "minisched/api/pod.h"

namespace minisched::scenario {

// An Event object about a pod, from any reporter.
struct PodEvent {
  std::string pod;
  std::string type;
  std::string reason;
  std::string message;
  int count = 1;
};

// The number of requests with one verb for one resource.
struct RequestCount {
  std::string verb;
  std::string resource;  // "pods", "pods/binding"
  int count = 0;
};

// The state of the cluster at one moment, as a value.
struct ClusterState {
  // The pods of the scenario's namespace, by name.
  std::map<std::string, std::shared_ptr<const Pod>> pods;
  // All nodes of the cluster, by name.
  std::map<std::string, std::shared_ptr<const Node>> nodes;
  // The moment at which each bound pod, by uid, was first observed on a node. A
  // moment is a number that grows with each change. All pods of one list have
  // the same moment.
  std::map<std::string, int> bound_at;
  // Names of the pods that the scenario has created and not deleted.
  std::set<std::string> created;
  // Return the namespace's events, and the requests and the scheduler's metrics
  // since the last mark. Evaluate() calls these functions only if an
  // expectation needs them, and catches only MetricsError.
  std::function<std::vector<PodEvent>()> events;
  std::function<std::vector<RequestCount>()> requests;
  std::function<std::vector<Sample>()> metrics;
};

}  // namespace minisched::scenario
