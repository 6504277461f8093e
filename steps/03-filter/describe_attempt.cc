// Describes an attempt for the trace: from this step's types to an Attempt.
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
  } else {
    attempt.failure = result.error().status.Message();
    if (!result.error().status.IsRejected()) return attempt;
    attempt.all_rejections = trace_.wants_all_rejections();
  }
  const NodeToStatus& statuses =
      (result ? result->diagnosis : result.error().diagnosis).node_to_status;
  std::vector<RejectedNode> rejected;
  for (const NodeInfo* node : snapshot_.List()) {
    const std::string& name = node->node().metadata.name;
    const Status* first = statuses.Find(name);
    if (first == nullptr) continue;  // fits, or was not checked
    std::vector<Rejection> rejections{ToRejection(first->plugin(), *first)};
    for (const FilterPlugin* plugin : framework_.filter_plugins()) {
      if (!attempt.all_rejections || plugin->Name() == first->plugin()) {
        continue;
      }
      const Status later = plugin->Filter(state, *info.pod, *node);
      if (later.IsRejected()) {
        rejections.push_back(ToRejection(plugin->Name(), later));
      }
    }
    rejected.push_back({name, std::move(rejections)});
  }
  attempt.rejected = std::move(rejected);
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
