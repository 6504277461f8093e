#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace minisched::scenario {

// What a scenario file says, checked and with its short forms written out.
// docs/reference/scenarios.md explains the format. All of it is plain values.

// What there shall be of some pods. Fields that are not given ask for nothing.
struct PodExpectation {
  // Which: globs over names. At least one pod must match, and all those that
  // the scenario has created under such a name must be there.
  std::vector<std::string> pods;
  std::optional<int> count;  // so many match

  enum class Bound { kAll, kNone, kAllOrNone };
  std::optional<Bound> bound;
  std::optional<int> bound_count;  // so many of them have a node

  // Every one is bound, to one of these nodes, or to none of those.
  std::vector<std::string> on;
  std::vector<std::string> not_on;

  // None is bound, and the condition PodScheduled=False, Unschedulable says so
  // with a message that this begins, or matches as a glob.
  std::optional<std::string> pending;

  // Each has such a condition; what is empty may be anything. Globs.
  struct Condition {
    std::string type;
    std::string status;
    std::string reason;
    std::string message;
  };
  std::optional<Condition> condition;

  // Each has an event of this kind; with `at_most`, never more than so many
  // Event objects. Globs.
  struct Event {
    std::string type;
    std::string reason;
    std::string message;
    std::optional<int> at_most;
  };
  std::optional<Event> event;

  std::string phase;  // each is in it

  // How those that are bound lie on the nodes: on so many nodes at least, at
  // most so many on any one, and no node has `skew` more than another of the
  // scenario's nodes.
  std::optional<int> nodes_at_least;
  std::optional<int> per_node_at_most;
  std::optional<int> skew;

  bool gone = false;  // no such pod is there
};

// Pods that match one glob get their nodes before those that match the next.
struct OrderExpectation {
  std::vector<std::string> globs;
};

// What the scheduler has asked the server for since the last `mark: requests`.
// Every client counts but the player itself. Empty strings: anything.
struct RequestExpectation {
  std::string verb;      // "list", "watch", "create", ...
  std::string resource;  // "pods", "pods/binding"
  std::optional<int> at_most;
  std::optional<int> at_least;
};

// On no node do the pods that are bound and not ended ask for more than it has.
struct OvercommitExpectation {};

struct Expectation {
  std::variant<PodExpectation, OrderExpectation, RequestExpectation,
               OvercommitExpectation>
      what;
  std::string text;  // as it is told: "pods web-*: on node-1"
};

// An object to be created, as JSON.
struct Manifest {
  std::string json;
  std::string api_version;
  std::string kind;
  std::string name;
};

// An object that is there.
struct ObjectName {
  std::string api_version = "v1";
  std::string kind;
  std::string name;  // a glob where several may be meant
};

struct Create {
  std::vector<Manifest> objects;
  bool apply = false;  // change those that are there
};

struct Patch {
  ObjectName object;
  std::string type;         // "merge", "strategic", "json"
  std::string subresource;  // "status", or empty
  std::string patch;        // JSON
};

struct Delete {
  ObjectName objects;
  std::optional<int> grace_seconds;
};

struct Wait {
  std::chrono::nanoseconds duration;
};

// What happens to the scheduler, where the player has started it.
enum class SchedulerAction { kStart, kStop, kKill, kRestart };

// What the embedded server is told to do.
struct Faults {
  std::string document;  // JSON, as the server takes it
};
struct Compact {};
struct Away {
  std::chrono::nanoseconds duration;
};

// Requests are counted from here.
struct MarkRequests {};

struct Expect {
  std::vector<Expectation> all;
  std::chrono::nanoseconds within;    // when it must have come to that
  std::chrono::nanoseconds hold_for;  // how long it must stay so
};

struct Step {
  std::variant<Create, Patch, Delete, Wait, SchedulerAction, Faults, Compact,
               Away, MarkRequests, Expect>
      action;
  std::string text;  // as it is told
};

struct Scenario {
  std::string file;
  std::string title;
  std::string why;
  int since = 0;
  // Why kube-scheduler is not judged by it; empty where it is.
  std::string not_upstream;
  // In place of those that are there; without them it leaves nodes alone.
  std::vector<Manifest> nodes;
  std::optional<Faults> faults;  // from before the scheduler starts
  std::vector<Expectation> throughout;
  std::vector<Step> steps;

  // It needs the embedded server: faults, and counts of requests.
  bool needs_embedded = false;
  // It stops or starts the scheduler.
  bool needs_scheduler = false;
};

// Reads a scenario. Files that it names are looked for beside it. Throws
// CannotPlay: "FILE:LINE:COLUMN: what is wrong".
Scenario ReadScenario(const std::string& file);

}  // namespace minisched::scenario
