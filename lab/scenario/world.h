#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "lab/scenario/prometheus.h"
#include "lab/scenario/scenario.h"
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
struct World {
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

struct Verdict {
  enum class Kind {
    kMet,
    kNotYet,  // not met, but may be met later
    kBroken   // can't be met any more
  };
  Kind kind = Kind::kMet;
  std::string found;  // the actual state; empty if met
  // Names of the pods that explain the verdict.
  std::vector<std::string> pods = {};
};

// Returns whether the world meets the expectation.
Verdict Evaluate(const Expectation& expectation, const World& world);

// Returns true if the expectation can be a rule of `throughout`: a state of
// pods and nodes can break the expectation permanently, and its evaluation
// needs no events, requests or metrics.
bool CanBeWatched(const Expectation& expectation);

// Formats a pod: "web-1: on node-1, Running",
// "web-2: no node, Unschedulable: 0/3 nodes …".
std::string DescribePod(const Pod& pod);

// Formats the cordon and the taints of a node: "node gpu-1: cordoned, taint
// gpu=yes:NoSchedule". Returns "" if the node has neither.
std::string DescribeNode(const Node& node);

}  // namespace minisched::scenario
