// Describes an attempt for the trace: from this step's types to an Attempt.
#include <map>
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

// Returns the scores of the node at this index among the feasible nodes.
std::vector<PluginScore> DescribeScores(
    const std::vector<PluginNodeScores>& all, std::size_t index) {
  std::vector<PluginScore> scores;
  for (const PluginNodeScores& plugin : all) {
    const std::int64_t normalized = plugin.normalized[index].score;
    scores.push_back({.plugin = std::string(plugin.plugin),
                      .raw = plugin.raw[index],
                      .normalized = normalized,
                      .weighted = normalized * plugin.weight});
  }
  return scores;
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
  std::map<const NodeInfo*, std::size_t> feasible;  // and their positions
  if (result) {
    for (const NodeInfo* node : result->feasible_nodes) {
      feasible.emplace(node, feasible.size());
    }
  }
  std::vector<NodeVerdict> verdicts;
  verdicts.reserve(snapshot_.List().size());
  for (const NodeInfo* node : snapshot_.List()) {
    const std::string& name = node->node().metadata.name;
    if (const auto found = feasible.find(node); found != feasible.end()) {
      verdicts.push_back(
          {.node = name,
           .scores = DescribeScores(result->scores, found->second)});
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

Attempt Scheduler::DescribeBinding(const PodAttempt& pod_attempt,
                                   std::string_view point,
                                   const SchedulingFailure& result) {
  const Status* own = result.diagnosis.node_to_status.Find(pod_attempt.host);
  const Status& status = own != nullptr ? *own : result.status;
  Attempt attempt = NewAttempt(pod_attempt.info);
  attempt.node = pod_attempt.host;
  attempt.failure = result.status.Message();
  attempt.points.push_back({.point = std::string(point),
                            .plugin = std::string(status.plugin()),
                            .status = status.IsSuccess()    ? "Success"
                                      : status.IsRejected() ? "Unschedulable"
                                                            : "Error",
                            .message = status.Message()});
  return attempt;
}

}  // namespace minisched
