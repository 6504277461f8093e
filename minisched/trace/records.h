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
// record holds the whole present state of one pod, one attempt, activeQ or the
// scheduler, so a reader needs only the last record of each.
// docs/reference/trace.md describes the records as JSON.

namespace minisched {

// The place of a pod: a part of the scheduling queue, or a state after the
// queue.
enum class Place {
  kGated,          // PreEnqueue rejected the pod
  kActive,         // activeQ: waits for its turn
  kBackoff,        // backoffQ: waits until a time
  kUnschedulable,  // waits for an event, or until a time
  kInFlight,       // popped: is being scheduled
  kWaiting,        // waits on Permit
  kAssumed,        // counted on its node before the Binding
  kBound,          // bound by this scheduler
  kGone,           // deleted, ended, or bound by another scheduler
};

// Returns the place's name in records: "active", "in flight", …
std::string_view PlaceName(Place place);

// Why a pod moved to a place, and what the pod waits for there. Each field may
// be empty.
struct Move {
  std::string event;                 // upstream's name: "BackoffComplete"
  std::vector<std::string> plugins;  // those that rejected or hold the pod
  std::vector<std::string> wakes;    // the events that may move the pod on
  int attempts = 0;                  // the pod's attempts so far
  // When the wait ends, unless an event ends the wait earlier. The scheduler
  // may move the pod a little later, at its next check.
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

// The reasons why a filter plugin rejected a node.
struct Rejection {
  std::string plugin;
  std::vector<std::string> reasons;  // at least one
};

// The scores by one plugin, in the order of the nodes that the pod fits. What
// counts is the normalized score times the weight.
struct ScoreColumn {
  std::string plugin;
  std::int64_t weight = 1;
  std::vector<std::int64_t> raw;
  std::vector<std::int64_t> normalized;  // 0 to 100
};

// A node that the pod doesn't fit.
struct RejectedNode {
  std::string node;
  // At least one. Only the first rejection counts. Later rejections follow if a
  // reader asked for all.
  std::vector<Rejection> rejections;
};

// The result of a plugin at an extension point other than Filter and Score.
struct PointResult {
  std::string point;   // "PreFilter", "Bind", …
  std::string plugin;  // empty: the scheduler itself
  std::string status;  // "Success", "Skip", "Unschedulable", "Error", …
  std::string message;
};

// The number of nodes whose first rejection is from this plugin and has this
// reason.
struct ReasonCount {
  std::string plugin;
  std::string reason;
  std::size_t nodes = 0;
};

// One attempt to schedule a pod.
struct Attempt {
  std::string pod;  // "namespace/name"
  std::string uid;
  int number = 0;                    // 1 is the pod's first attempt
  std::vector<std::string> filters;  // the filter plugins in their order
  SharedList<std::string> fits;      // the nodes that the pod fits
  SharedList<ScoreColumn> scores;    // of these nodes, unless there is only one
  SharedList<RejectedNode> rejected;  // all other nodes that were checked
  // True if each rejected node has the rejections of all plugins, not only the
  // first one.
  bool all_rejections = false;
  std::vector<PointResult> points;
  std::string node;     // the chosen node; empty if there is none
  std::string failure;  // the message of the failure; empty if there is none

  // Trace::Tried() sets these fields. The counts include the nodes beyond
  // TraceLimits::nodes_per_attempt.
  int reports = 0;  // how often the attempt has been reported
  std::size_t all_nodes = 0;
  std::size_t feasible_nodes = 0;
  std::vector<ReasonCount> reasons;
};

// The order of activeQ.
struct QueueRecord {
  // The uids of the first pods, in the order in which they would be popped.
  std::vector<std::string> active;
  std::size_t length = 0;  // the number of all pods in activeQ

  bool operator==(const QueueRecord&) const = default;
};

// The state of the scheduler itself.
struct SchedulerRecord {
  std::string name;     // the spec.schedulerName of its pods
  std::string program;  // such as "minisched-13"; may be empty
  bool paused = false;
};

// One record of a trace.
struct Record {
  std::uint64_t sequence = 0;  // 1 for the first record, then 2, 3, …
  Time time;
  std::variant<PodRecord, Attempt, QueueRecord, SchedulerRecord> state;
};
using RecordPtr = std::shared_ptr<const Record>;

// What the JSON of an attempt has.
enum class JsonDetail {
  kSummary,  // no node by name, except the chosen one: only the counts
  kFull
};

// Returns the record as a line of JSON without control characters. `replaced`
// is the number of records just before this one that are left out, because
// later records replace them.
std::string ToJsonLine(const Record& record,
                       JsonDetail detail = JsonDetail::kFull,
                       std::size_t replaced = 0);

// The lines of consecutive records. Leaves out each record of an attempt that a
// later one of these records replaces: with a thousand nodes, such a record
// takes most of a reader's time.
class RecordLines {
 public:
  RecordLines() = default;
  explicit RecordLines(std::vector<RecordPtr> records,
                       JsonDetail detail = JsonDetail::kFull);

  bool empty() const { return next_ == records_.size(); }
  // Returns the next line, and frees its record. REQUIRES: not empty().
  std::string Next();

 private:
  std::vector<RecordPtr> records_;  // null: left out; the last one never is
  std::size_t next_ = 0;
  JsonDetail detail_ = JsonDetail::kFull;
};

}  // namespace minisched
