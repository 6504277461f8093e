#include "minisched/trace/records.h"

#include <nlohmann/json.hpp>

namespace minisched {
namespace {

using Json = nlohmann::ordered_json;

// Sets a member unless the value is empty.
template <class T>
void Put(Json& object, const char* key, const T& value) {
  if (!value.empty()) object[key] = value;
}

Json Describe(const PodRecord& pod) {
  const Move& move = pod.move;
  Json json{
      {"name", pod.pod}, {"uid", pod.uid}, {"place", PlaceName(pod.place)}};
  Put(json, "event", move.event);
  Put(json, "hint", move.hint);
  Put(json, "plugins", move.plugins);
  Put(json, "wakes", move.wakes);
  if (move.attempts > 0) json["attempts"] = move.attempts;
  if (pod.until) json["until"] = FormatMicroTime(*pod.until);
  Put(json, "node", move.node);
  return json;
}

Json Describe(const NodeVerdict& verdict) {
  Json json{{"node", verdict.node}};
  for (const Objection& objection : verdict.objections) {
    json["objections"].push_back(
        {{"plugin", objection.plugin}, {"reasons", objection.reasons}});
  }
  for (const PluginScore& score : verdict.scores) {
    json["scores"].push_back({{"plugin", score.plugin},
                              {"raw", score.raw},
                              {"normalized", score.normalized},
                              {"weighted", score.weighted}});
  }
  return json;
}

Json Describe(const Attempt& attempt) {
  Json json{{"pod", attempt.pod},
            {"uid", attempt.uid},
            {"attempt", attempt.number},
            {"allNodes", attempt.all_nodes},
            {"feasibleNodes", attempt.feasible_nodes}};
  for (const ObjectionCount& count : attempt.objections) {
    json["objections"].push_back({{"plugin", count.plugin},
                                  {"reason", count.reason},
                                  {"nodes", count.nodes}});
  }
  Put(json, "filters", attempt.filters);
  if (attempt.all_objections) json["allObjections"] = true;
  for (const NodeVerdict& node : attempt.nodes) {
    // In a large cluster, most nodes have only a name: shorten them.
    if (node.objections.empty() && node.scores.empty()) {
      json["fits"].push_back(node.node);
    } else {
      json["nodes"].push_back(Describe(node));
    }
  }
  for (const PointResult& result : attempt.points) {
    Json point{{"point", result.point}};
    Put(point, "plugin", result.plugin);
    Put(point, "status", result.status);
    Put(point, "message", result.message);
    json["points"].push_back(std::move(point));
  }
  Put(json, "node", attempt.node);
  Put(json, "failure", attempt.failure);
  return json;
}

Json Describe(const SchedulerRecord& scheduler) {
  return {{"name", scheduler.name}, {"paused", scheduler.paused}};
}

const char* Kind(const PodRecord&) { return "pod"; }
const char* Kind(const Attempt&) { return "attempt"; }
const char* Kind(const SchedulerRecord&) { return "scheduler"; }

}  // namespace

std::string_view PlaceName(Place place) {
  switch (place) {
    case Place::kGated:
      return "gated";
    case Place::kActive:
      return "active";
    case Place::kBackoff:
      return "backoff";
    case Place::kUnschedulable:
      return "unschedulable";
    case Place::kInFlight:
      return "in flight";
    case Place::kWaiting:
      return "waiting";
    case Place::kAssumed:
      return "assumed";
    case Place::kBound:
      return "bound";
    case Place::kGone:
      return "gone";
  }
  return "";
}

std::string ToJsonLine(const Record& record) {
  Json json{{"v", 1},
            {"sequence", record.sequence},
            {"time", FormatMicroTime(record.time)}};
  std::visit(
      [&json](const auto& state) { json[Kind(state)] = Describe(state); },
      record.state);
  // Names and messages may contain any bytes, such as broken UTF-8 and control
  // characters beyond ASCII (U+009B).
  return json.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/true,
                   Json::error_handler_t::replace);
}

}  // namespace minisched
