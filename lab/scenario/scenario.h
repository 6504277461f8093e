#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace minisched::scenario {

// The content of a scenario file as plain values. The short forms are expanded.
// docs/reference/scenarios.md explains the format.

// An expectation about pods. A field that is not set expects nothing.
struct PodExpectation {
  // Globs of names. Unless `gone` is set, at least one pod must match, and
  // every matching pod that the scenario has created must exist.
  std::vector<std::string> pods;
  std::optional<int> count;  // number of pods that match

  enum class Bound { kAll, kNone, kAllOrNone };
  std::optional<Bound> bound;
  std::optional<int> bound_count;  // number of these pods with a node

  // Every pod is bound to a node that matches a glob of `on`, if set, and no
  // glob of `not_on`.
  std::vector<std::string> on;
  std::vector<std::string> not_on;

  // No pod is bound, and each has PodScheduled=False with reason Unschedulable
  // and a message that begins with this text or matches it as a glob.
  std::optional<std::string> pending;

  // Each pod has a condition of this type. The other texts are prefixes or
  // globs; empty: any.
  struct Condition {
    std::string type;
    std::string status;
    std::string reason;
    std::string message;
  };
  std::optional<Condition> condition;

  // Each pod has an event with these texts, and no pod has more than `at_most`
  // such Event objects. Texts are prefixes or globs; empty: any.
  struct Event {
    std::string type;
    std::string reason;
    std::string message;
    std::optional<int> at_most;
  };
  std::optional<Event> event;

  std::string phase;  // of each pod; empty: any

  // The spread of bound pods: they use at least `nodes_at_least` nodes, no node
  // has more than `per_node_at_most` of them, and the counts of any two nodes
  // differ by at most `skew`. With `skew_by`, the counts are those of any two
  // values of this label of nodes, and nodes without the label don't count.
  std::optional<int> nodes_at_least;
  std::optional<int> per_node_at_most;
  std::optional<int> skew;
  std::string skew_by;

  bool gone = false;  // no pod matches
};

// Pods that match one glob are bound before pods that match the next glob.
struct OrderExpectation {
  std::vector<std::string> globs;
};

// The number of requests from all clients except players, since the start of
// the scenario or the last `mark: requests`. Empty strings match any request.
struct RequestExpectation {
  std::string verb;      // "list", "watch", "create", ...
  std::string resource;  // "pods", "pods/binding"
  std::optional<int> at_most;
  std::optional<int> at_least;
};

// The sum of a metric over the series of the scheduler with these labels; 0 if
// there are none.
struct MetricExpectation {
  std::string name;
  std::map<std::string, std::string> labels = {};  // globs of the values
  std::optional<double> at_most = {};
  std::optional<double> at_least = {};
  std::optional<double> equals = {};
};

// No node is overcommitted; see FindOvercommit().
struct OvercommitExpectation {};

struct Expectation {
  std::variant<PodExpectation, OrderExpectation, RequestExpectation,
               MetricExpectation, OvercommitExpectation>
      what;
  std::string text;  // for the report: "pods web-*: node node-1"
};

// An object to create, as JSON.
struct Manifest {
  std::string json;
  std::string api_version;
  std::string kind;
  std::string name;
};

// The name of an existing object.
struct ObjectName {
  std::string api_version = "v1";
  std::string kind;
  std::string name;  // a glob in Delete
  // "": that of the scenario. Only ParseSteps() reads another one.
  std::string namespace_name = {};
};

struct Create {
  std::vector<Manifest> objects;
  bool apply = false;  // merge into objects that exist
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

// What to do with a replica of the scheduler that the player starts. A replica
// that was paused may exit once it is resumed.
enum class SchedulerAction { kStart, kStop, kKill, kRestart, kPause, kResume };

struct SchedulerStep {
  SchedulerAction action;
  int replica = 1;  // the player starts the first one before the steps
};

// A program that runs beside the scheduler, such as an extender.
struct Program {
  std::string name;
  std::string command;  // of a shell, in the directory of the scenario's file
  int port;             // of the program's URL in `config`
};

// Starts or stops one of the scenario's programs.
struct ProgramAction {
  std::string name;
  bool start;
};

// The faults to set on the embedded server.
struct Faults {
  std::string document;  // JSON for PUT /minisched/faults
};
// Compacts the server's history.
struct Compact {};

// Makes the server unreachable.
struct Away {
  std::chrono::nanoseconds duration;
};

// Sets the number of requests back to zero.
struct MarkRequests {};

// Sets the scheduler's counters, the metrics whose names end in _total, back to
// zero.
struct MarkMetrics {};

struct Expect {
  std::vector<Expectation> all;
  std::chrono::nanoseconds within;    // deadline for each expectation
  std::chrono::nanoseconds hold_for;  // how long all must then stay met
};

struct Step {
  std::variant<Create, Patch, Delete, Wait, SchedulerStep, ProgramAction,
               Faults, Compact, Away, MarkRequests, MarkMetrics, Expect>
      action;
  std::string text;  // for the report
};

struct Scenario {
  std::string file;
  std::string title;
  std::string why;
  int since = 0;  // the number of the first step that passes
  // Why kube-scheduler is not expected to pass; empty: it is expected to pass.
  std::string not_upstream;
  // What the player appends to the command that starts the scheduler, such as
  // the flag that adds a plugin.
  std::string flags;
  // What `--config` gives the scheduler instead of the flags: a JSON object for
  // CompleteSchedulerConfig(), or "". If the scenario names a file, this is the
  // content of the file.
  std::string config;
  std::vector<Program> programs;  // all run when the scheduler starts
  // Nodes that replace the cluster's; empty: leave the cluster's nodes alone.
  std::vector<Manifest> nodes;
  std::optional<Faults> faults;  // set before the scheduler starts
  std::vector<Expectation> throughout;
  std::vector<Step> steps;

  // True if the scenario injects faults, counts requests or has a `server`
  // step.
  bool needs_embedded = false;
  // True if the scenario stops or starts the scheduler.
  bool needs_scheduler = false;
  // True if the scenario reads the scheduler's metrics.
  bool needs_metrics = false;
};

// Reads a scenario file. Paths in the file are relative to its directory.
// Throws CannotPlay with "FILE:LINE:COLUMN: what is wrong", or without a
// position if the file can't be read or is no YAML.
Scenario ReadScenario(const std::string& file);

// Parses steps that change a cluster, without a scenario around them: one step,
// or a list. Only create, apply, patch, delete, cordon and uncordon are
// allowed. Nodes need no declaration, and `patch` and `delete` may have a
// `namespace`. Throws CannotPlay as ReadScenario() does. `source` stands for
// the file.
std::vector<Step> ParseSteps(const std::string& text,
                             const std::string& source);

// Parses a scenario file with this text, as ReadScenario() does. `file` is the
// path of the file.
Scenario ParseScenario(const std::string& file, const std::string& text);

}  // namespace minisched::scenario
