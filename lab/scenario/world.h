#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

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
  // By name; only pods of the scenario's namespace.
  std::map<std::string, std::shared_ptr<const Pod>> pods;
  std::map<std::string, std::shared_ptr<const Node>> nodes;
  // When each pod, by uid, was first observed on a node, as a number that grows
  // with each change. Pods from the same list have the same number.
  std::map<std::string, int> bound_at;
  // Names of the pods that the scenario has created and not deleted.
  std::set<std::string> created;
  // Evaluate() calls these only if an expectation needs them, and doesn't catch
  // their exceptions.
  std::function<std::vector<PodEvent>()> events;
  std::function<std::vector<RequestCount>()> requests;
};

struct Verdict {
  enum class Kind {
    kMet,
    kNotYet,  // not met, but may be met later
    kBroken   // can't be met any more
  };
  Kind kind = Kind::kMet;
  std::string found;  // the actual state; empty if met
  // Names of the pods that matter.
  std::vector<std::string> pods = {};
};

// Returns whether the world meets the expectation. A pure function.
Verdict Evaluate(const Expectation& expectation, const World& world);

// Returns true if pods and nodes alone can break the expectation, so that a
// watch detects it.
bool CanBeWatched(const Expectation& expectation);

// Formats a pod: "web-1: on node-1, Running",
// "web-2: no node, Unschedulable: 0/3 nodes …".
std::string DescribePod(const Pod& pod);

// Formats what keeps pods off a node: "node gpu-1: cordoned, taint
// gpu=yes:NoSchedule". Returns "" if nothing does.
std::string DescribeNode(const Node& node);

}  // namespace minisched::scenario
