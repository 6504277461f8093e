#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "minisched/api/time.h"
#include "minisched/base/clock.h"
#include "minisched/trace/shared_list.h"

// The records of a trace: the reports of a scheduler on its own work. Each
// record holds the whole present state of one pod, one attempt or the
// scheduler, so a reader needs no earlier record of it.
// docs/reference/trace.md describes the records as JSON.

namespace minisched {

// The place of a pod: a part of the scheduling queue, or a state after it.
enum class Place {
  kGated,          // PreEnqueue rejected the pod
  kActive,         // activeQ: waits for its turn
  kBackoff,        // backoffQ: waits until a time
  kUnschedulable,  // waits for an event, or until a time
  kInFlight,       // popped: is being scheduled
  kWaiting,        // on Permit
  kAssumed,        // counted on its node before the Binding
  kBound,          // this scheduler has bound it
  kGone,           // deleted, ended, or bound by another scheduler
};

// Returns the place's name in records: "active", "in flight", …
std::string_view PlaceName(Place place);

// Why a pod moved to a place, and what it waits for there. Each field may be
// empty.
struct Move {
  std::string event;                 // upstream's name: "BackoffComplete"
  std::string hint;                  // the result of the queueing hint
  std::vector<std::string> plugins;  // that rejected the pod, or hold it
  std::vector<std::string> wakes;    // the events that may move the pod on
  int attempts = 0;
  // When the wait ends if no event ends it. The scheduler may move the pod a
  // little later, at its next check.
  std::optional<Clock::TimePoint> until;
  std::string node;  // the node that the pod is assumed on or bound to
};

// The state of a pod.
struct PodRecord {
  std::string pod;  // "namespace/name"
  std::string uid;
  Place place = Place::kGone;
  Move move;                  // how the pod came to this place
  std::optional<Time> until;  // move.until as a time of day
};

// An objection of a plugin to a node.
struct Objection {
  std::string plugin;
  std::vector<std::string> reasons;  // at least one
};

// The score of a node by one plugin.
struct PluginScore {
  std::string plugin;
  std::int64_t raw = 0;
  std::int64_t normalized = 0;  // 0 to 100
  std::int64_t weighted = 0;
};

// The verdict of the plugins on a node.
struct NodeVerdict {
  std::string node;
  // Empty if the pod fits. Only the first objection counts. Others follow if a
  // reader asked for all.
  std::vector<Objection> objections;
  std::vector<PluginScore> scores;
};

// The result of a plugin at an extension point other than Filter and Score.
struct PointResult {
  std::string point;   // "PreFilter", "Bind", …
  std::string plugin;  // empty: the scheduler itself
  std::string status;  // "Success", "Skip", "Unschedulable", "Error", …
  std::string message;
};

// The number of nodes that a plugin was the first to reject, for one reason.
struct ObjectionCount {
  std::string plugin;
  std::string reason;
  std::size_t nodes = 0;
};

// One try to schedule a pod.
struct Attempt {
  std::string pod;  // "namespace/name"
  std::string uid;
  int number = 0;                    // 1 is the pod's first attempt
  std::vector<std::string> filters;  // the filter plugins in their order
  SharedList<NodeVerdict> nodes;     // in the order of the checks
  // True if each node's objections are those of all plugins.
  bool all_objections = false;
  std::vector<PointResult> points;
  std::string node;     // the chosen node; empty if there is none
  std::string failure;  // the message of the failure; empty if there is none

  // Set by Trace::Tried(). The counts are of all nodes, including those beyond
  // TraceLimits::nodes_per_attempt.
  int reports = 0;  // how often the attempt has been reported
  std::size_t all_nodes = 0;
  std::size_t feasible_nodes = 0;
  std::vector<ObjectionCount> objections;
};

// The state of the scheduler itself.
struct SchedulerRecord {
  std::string name;  // the spec.schedulerName of its pods
  bool paused = false;
};

struct Record {
  std::uint64_t sequence = 0;  // 1 is the first; each record has the next
  Time time;
  std::variant<PodRecord, Attempt, SchedulerRecord> state;
};
using RecordPtr = std::shared_ptr<const Record>;

// Returns the record as a line of JSON without control characters.
std::string ToJsonLine(const Record& record);

}  // namespace minisched
