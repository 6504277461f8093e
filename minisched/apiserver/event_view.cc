#include "minisched/apiserver/event_view.h"

#include <utility>

namespace minisched::apiserver {
namespace {

// What a field is called in core/v1 and in events.k8s.io/v1.
constexpr std::pair<const char*, const char*> kNames[] = {
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
    {"reportingComponent", "reportingController"},
};

void Rename(Json& event, const char* from, const char* to) {
  const auto field = event.find(from);
  if (field == event.end()) return;
  Json value = std::move(*field);
  event.erase(field);
  event[to] = std::move(value);
}

}  // namespace

Json ToEventsV1(Json event) {
  for (const auto& [core, v1] : kNames) Rename(event, core, v1);
  // Only the core group writes these when they are empty.
  for (const char* key : {"reportingController", "reportingInstance"}) {
    if (GetString(event, key).empty()) event.erase(key);
  }
  event["apiVersion"] = "events.k8s.io/v1";
  return event;
}

Json FromEventsV1(Json event) {
  for (const auto& [core, v1] : kNames) Rename(event, v1, core);
  for (const char* key : {"reportingComponent", "reportingInstance"}) {
    event.emplace(key, "");
  }
  event["apiVersion"] = "v1";
  return event;
}

}  // namespace minisched::apiserver
