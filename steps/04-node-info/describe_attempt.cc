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

// Returns the results of the PreFilter plugins in order. A plugin that returns
// UnschedulableAndUnresolvable is the last: the others did not run.
std::vector<PointResult> DescribePreFilter(const Framework& framework,
                                           const CycleState& state,
                                           const Diagnosis& diagnosis) {
  std::vector<PointResult> points;
  const Status& rejection = diagnosis.node_to_status.absent_nodes_status();
  for (const PreFilterPlugin* plugin : framework.pre_filter_plugins()) {
    PointResult& point = points.emplace_back();
    point.point = "PreFilter";
    point.plugin = plugin->Name();
    point.status = state.SkipsFilter(plugin->Name()) ? "Skip" : "Success";
    if (diagnosis.pre_filter_message.empty() ||
        rejection.plugin() != plugin->Name()) {
      continue;
    }
    const bool resolvable = rejection.code() == Code::kUnschedulable;
    point.status =
        resolvable ? "Unschedulable" : "UnschedulableAndUnresolvable";
    point.message = rejection.Message();
    if (!resolvable) break;
  }
  return points;
}

Objection ToObjection(std::string_view plugin, const Status& status) {
  return {.plugin = std::string(plugin), .reasons = status.reasons()};
}

// Runs the filter plugins, except the one that rejected the node first, and
// appends their objections to the verdict.
void AddOtherObjections(const Framework& framework, const CycleState& state,
                        const Pod& pod, const NodeInfo& node,
                        NodeVerdict& verdict) {
  const std::string first = verdict.objections.front().plugin;
  for (const FilterPlugin* plugin : framework.filter_plugins()) {
    if (plugin->Name() == first || state.SkipsFilter(plugin->Name())) continue;
    const Status status = plugin->Filter(state, pod, node);
    if (status.IsRejected()) {
      verdict.objections.push_back(ToObjection(plugin->Name(), status));
    }
  }
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
    if (!result.error().status.IsRejected() || snapshot_.List().empty()) {
      return attempt;
    }
    attempt.all_objections = trace_.wants_all_objections();
  }
  const Diagnosis& diagnosis =
      result ? result->diagnosis : result.error().diagnosis;
  attempt.points = DescribePreFilter(framework_, state, diagnosis);
  if (!diagnosis.pre_filter_message.empty()) return attempt;
  const NodeToStatus& statuses = diagnosis.node_to_status;
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
      if (attempt.all_objections && !first->plugin().empty()) {
        AddOtherObjections(framework_, state, *info.pod, *node, verdict);
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
