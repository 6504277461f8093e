#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace minisched::explain {

// The rejection of a node by a plugin.
struct Rejection {
  std::string plugin;  // "" for the result of PreFilter
  std::vector<std::string> reasons;
  std::vector<std::string> causes;
};

struct RejectedNode {
  std::string node;
  std::vector<Rejection> rejections;
};

struct ScoredNode {
  std::string node;
  std::int64_t total = 0;
  // Each plugin's normalized score, times its weight.
  std::vector<std::pair<std::string, std::int64_t>> scores;
};

// A change that may help the pod.
struct Change {
  std::string text;  // "node-2 is uncordoned"
  std::string step;  // for scenario::ParseSteps() and --what-if, as JSON
  int changes = 1;   // 2 for a pair of changes
  // The node that the pod gets with it; "" before a trial.
  std::string node = {};
};

// A pod that is evicted for the explained pod.
struct Victim {
  std::string pod;  // "default/batch"
  std::int32_t priority = 0;
  std::vector<std::string> budgets;  // those that don't allow the eviction
};

// How many changes were played in search of suggestions.
struct Tried {
  std::size_t changes = 0;
  std::size_t pairs = 0;
};

// answer.cc has their names.
enum class State {
  kFits,
  kUnschedulable,  // fits no node
  kNotBound,       // fits a node, but was rejected later
  kPreempts,       // fits no node, until the scheduler has evicted pods for it
  kGated,
  kBound,
  kNoNode,  // spec.nodeName names a node that does not exist
  kDeleted,
  kEnded,
  kOtherScheduler,
};

struct Answer {
  std::string pod;  // "default/web"
  State state = State::kFits;
  // The message of the scheduler's failure, or of this program. One line.
  std::string sentence;
  std::string node;  // the node that the pod gets, has, or is nominated to
  bool is_daemon_set = false;  // the answer is about a pod on each node
  int all_nodes = 0;
  int feasible_nodes = 0;
  // The nodes with the fewest rejections first.
  std::vector<RejectedNode> rejected;
  // Rejections of the pod as a whole, before any node.
  std::vector<Rejection> pod_rejections;
  std::vector<ScoredNode> scores;   // the best first
  std::int32_t priority = 0;        // of the pod
  std::vector<Victim> victims;      // of kPreempts: the most important first
  std::vector<Change> suggestions;  // those that help
  std::optional<Tried> tried;       // if suggestions were looked for
  std::vector<std::string> warnings;
  std::vector<std::string> running;  // what the running scheduler knows
};

// Returns the exit code of the answer, as --help describes it.
int ExitCode(const Answer& answer);

// Return the answer for people and as JSON, each with a line end.
std::string ToTable(const Answer& answer);
std::string ToJson(const Answer& answer);

}  // namespace minisched::explain
