// Describes an attempt for the trace: from this step's types to an Attempt.
#include <string>
#include <utility>
#include <vector>

#include "minisched/api/duration.h"
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

// Returns the result of RunPostFilterPlugins. The message of a success is the
// nominated node.
PointResult DescribePostFilter(const SchedulingFailure& failure) {
  const Status& status = *failure.diagnosis.post_filter;
  const bool success = status.IsSuccess();
  return {"PostFilter", std::string(status.plugin()),
          success               ? "Success"
          : status.IsRejected() ? "Unschedulable"
                                : "Error",
          success ? failure.nominated_node.value_or("") : status.Message()};
}

std::vector<std::string> NamesOf(const Nodes& nodes) {
  std::vector<std::string> names;
  names.reserve(nodes.size());
  for (const NodeInfo* node : nodes) {
    names.push_back(node->node().metadata.name);
  }
  return names;
}

Rejection ToRejection(std::string_view plugin, const Status& status) {
  return {.plugin = std::string(plugin), .reasons = status.reasons()};
}

// Runs the filter plugins, except the one that rejected the node first, and
// appends their rejections.
void AddOtherRejections(const Framework& framework, const CycleState& state,
                        const Pod& pod, const NodeInfo& node,
                        std::vector<Rejection>& rejections) {
  const std::string first = rejections.front().plugin;
  for (const FilterPlugin* plugin : framework.filter_plugins()) {
    if (plugin->Name() == first || state.SkipsFilter(plugin->Name())) continue;
    const Status status = plugin->Filter(state, pod, node);
    if (status.IsRejected()) {
      rejections.push_back(ToRejection(plugin->Name(), status));
    }
  }
}

// Appends the results of the PreScore plugins, which have all succeeded.
void AddPreScore(const Framework& framework, const CycleState& state,
                 std::vector<PointResult>& points) {
  for (const PreScorePlugin* plugin : framework.pre_score_plugins()) {
    points.push_back(
        {.point = "PreScore",
         .plugin = std::string(plugin->Name()),
         .status = state.SkipsScore(plugin->Name()) ? "Skip" : "Success"});
  }
}

std::vector<ScoreColumn> DescribeScores(
    const std::vector<PluginNodeScores>& scores) {
  std::vector<ScoreColumn> columns;
  for (const PluginNodeScores& plugin : scores) {
    ScoreColumn& column = columns.emplace_back();
    column.plugin = plugin.plugin;
    column.weight = plugin.weight;
    column.raw = plugin.raw;
    for (const NodeScore& node : plugin.normalized) {
      column.normalized.push_back(node.score);
    }
  }
  return columns;
}

// Appends the success of the plugins at an extension point, up to the plugin
// with the result `last`, which is the last one that ran.
template <class T>
void AddSuccesses(std::string_view point, const std::vector<const T*>& plugins,
                  const PointResult& last, std::vector<PointResult>& points) {
  for (const T* plugin : plugins) {
    if (last.point == point && last.plugin == plugin->Name()) return;
    points.push_back({.point = std::string(point),
                      .plugin = std::string(plugin->Name()),
                      .status = "Success"});
  }
}

// Does the same for Permit, where a plugin may have asked to wait. Its timeout
// is the message. If `last` is the end of a wait, all plugins ran.
void AddPermits(const Framework& framework, const PluginWaits& waits,
                const PointResult& last, std::vector<PointResult>& points) {
  for (const PermitPlugin* plugin : framework.permit_plugins()) {
    PointResult point{"Permit", std::string(plugin->Name()), "Success", ""};
    const auto wait = waits.find(plugin->Name());
    if (wait != waits.end()) {
      point.status = "Wait";
      point.message = FormatGoDuration(wait->second);
    } else if (last.point == "Permit" && last.plugin == point.plugin) {
      return;
    }
    points.push_back(std::move(point));
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
    attempt.fits = NamesOf(result->feasible_nodes);
    attempt.scores = DescribeScores(result->scores);
  } else {
    attempt.failure = result.error().status.Message();
    if (!result.error().status.IsRejected() || snapshot_.List().empty()) {
      return attempt;
    }
    attempt.all_rejections = trace_.wants_all_rejections();
  }
  const Diagnosis& diagnosis =
      result ? result->diagnosis : result.error().diagnosis;
  attempt.points = DescribePreFilter(framework_, state, diagnosis);
  if (diagnosis.post_filter) {
    attempt.points.push_back(DescribePostFilter(result.error()));
  }
  if (attempt.fits.size() > 1) AddPreScore(framework_, state, attempt.points);
  if (!diagnosis.pre_filter_message.empty()) return attempt;
  const NodeToStatus& statuses = diagnosis.node_to_status;
  std::vector<RejectedNode> rejected;
  for (const NodeInfo* node : snapshot_.List()) {
    const std::string& name = node->node().metadata.name;
    const Status* first = statuses.Find(name);
    if (first == nullptr) continue;  // fits, or was not checked
    std::vector<Rejection> rejections{ToRejection(first->plugin(), *first)};
    if (attempt.all_rejections && !first->plugin().empty()) {
      AddOtherRejections(framework_, state, *info.pod, *node, rejections);
    }
    rejected.push_back({name, std::move(rejections)});
  }
  attempt.rejected = std::move(rejected);
  return attempt;
}

Attempt Scheduler::DescribeBinding(const PodAttempt& pod_attempt,
                                   std::string_view point,
                                   const SchedulingFailure& result) const {
  const Status* own = result.diagnosis.node_to_status.Find(pod_attempt.host);
  const Status& status = own != nullptr ? *own : result.status;
  Attempt attempt = NewAttempt(pod_attempt.info);
  attempt.node = pod_attempt.host;
  attempt.failure = result.status.Message();
  PointResult last{.point = std::string(point),
                   .plugin = std::string(status.plugin()),
                   .status = status.IsSuccess()    ? "Success"
                             : status.IsRejected() ? "Unschedulable"
                                                   : "Error",
                   .message = status.Message()};
  std::vector<PointResult>& points = attempt.points;
  AddSuccesses("Reserve", framework_.reserve_plugins(), last, points);
  if (point != "Reserve") {
    AddPermits(framework_, pod_attempt.waits, last, points);
  }
  if (point != "Reserve" && point != "Permit") {
    AddSuccesses("PreBind", framework_.pre_bind_plugins(), last, points);
  }
  points.push_back(std::move(last));
  return attempt;
}

}  // namespace minisched
