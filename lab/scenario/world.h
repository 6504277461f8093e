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

// An Event object, whoever wrote it.
struct SeenEvent {
  std::string pod;
  std::string type;
  std::string reason;
  std::string message;
  int count = 1;
};

// How often some client has asked for something.
struct RequestCount {
  std::string verb;
  std::string resource;  // "pods", "pods/binding"
  int count = 0;
};

// What the player knows of the cluster at one moment. A value.
struct World {
  // Those of the scenario's namespace, by name.
  std::map<std::string, std::shared_ptr<const Pod>> pods;
  std::map<std::string, std::shared_ptr<const Node>> nodes;
  // When a pod, by uid, was first seen on a node: counted, not timed. Pods that
  // were seen at once have the same number.
  std::map<std::string, int> bound_at;
  // The pods that the scenario has created and not deleted, by name.
  std::set<std::string> created;
  // Asked for only where an expectation is about them. What they throw,
  // Evaluate() throws.
  std::function<std::vector<SeenEvent>()> events;
  std::function<std::vector<RequestCount>()> requests;
};

struct Verdict {
  enum class Kind {
    kMet,
    kNotYet,  // something is missing that may come
    kBroken   // something is there that may not be, and won't go
  };
  Kind kind = Kind::kMet;
  std::string found;  // what is there instead; empty when met
  // The pods it is about.
  std::vector<std::string> pods = {};
};

// Whether the world is as expected. Follows from its arguments alone.
Verdict Evaluate(const Expectation& expectation, const World& world);

// Whether pods and nodes alone can break it, so that it can be watched over.
bool CanBeWatched(const Expectation& expectation);

// "web-1: on node-1, Running", "web-2: no node, Unschedulable: 0/3 nodes …".
std::string TellPod(const Pod& pod);

// "node gpu-1: cordoned, taint gpu=yes:NoSchedule": what keeps pods off it; ""
// where nothing does.
std::string TellNode(const Node& node);

}  // namespace minisched::scenario
