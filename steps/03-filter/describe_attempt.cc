// Describes an attempt for the trace: from this step's types to an Attempt.
#include <set>
#include <string>
#include <vector>

#include "scheduler.h"

namespace minisched {
namespace {

Attempt NewAttempt(const QueuedPodInfo& info) {
  return {.pod = ObjectName(info.pod->metadata),
          .uid = info.pod->metadata.uid,
          .number = info.attempts};
}

Objection ToObjection(std::string_view plugin, const Status& status) {
  return {.plugin = std::string(plugin), .reasons = status.reasons()};
}

}  // namespace

Attempt Scheduler::DescribeAttempt(
    const QueuedPodInfo& info, const CycleState& state,
    const tl::expected<ScheduleResult, SchedulingFailure>& result) const {
  Attempt attempt = NewAttempt(info);
  for (const FilterPlugin* plugin : framework_.filter_plugins()) {
    attempt.filters.emplace_back(plugin->Name());
  }
  if (result) {
    attempt.node = result->suggested_host;
  } else {
    attempt.failure = result.error().status.Message();
    if (!result.error().status.IsRejected()) return attempt;
    attempt.all_objections = trace_.wants_all_objections();
  }
  const NodeToStatus& statuses =
      (result ? result->diagnosis : result.error().diagnosis).node_to_status;
  std::set<const NodeInfo*> feasible;
  if (result) {
    feasible.insert(result->feasible_nodes.begin(),
                    result->feasible_nodes.end());
  }
  std::vector<NodeVerdict> verdicts;
  verdicts.reserve(snapshot_.List().size());
  for (const NodeInfo* node : snapshot_.List()) {
    const std::string& name = node->node().metadata.name;
    if (feasible.contains(node)) {
      verdicts.push_back({.node = name});
    } else if (const Status* first = statuses.Find(name)) {
      NodeVerdict& verdict = verdicts.emplace_back();
      verdict.node = name;
      verdict.objections.push_back(ToObjection(first->plugin(), *first));
      for (const FilterPlugin* plugin : framework_.filter_plugins()) {
        if (!attempt.all_objections || plugin->Name() == first->plugin()) {
          continue;
        }
        const Status later = plugin->Filter(state, *info.pod, *node);
        if (later.IsRejected()) {
          verdict.objections.push_back(ToObjection(plugin->Name(), later));
        }
      }
    }  // Otherwise the node was not checked.
  }
  attempt.nodes = std::move(verdicts);
  return attempt;
}

Attempt Scheduler::DescribeBinding(const QueuedPodInfo& info,
                                   const std::string& host,
                                   const Status& bound) {
  Attempt attempt = NewAttempt(info);
  attempt.node = host;
  attempt.failure = bound.Message();
  attempt.points.push_back({.point = "Bind",
                            .status = bound.IsSuccess() ? "Success" : "Error",
                            .message = bound.Message()});
  return attempt;
}

}  // namespace minisched
