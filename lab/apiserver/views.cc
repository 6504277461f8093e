#include "lab/apiserver/views.h"

#include <utility>

#include "lab/apiserver/errors.h"
#include "lab/apiserver/registry.h"
#include "lab/apiserver/selectors.h"

namespace minisched::apiserver {
namespace {

const ResourceRow kScale{.group = "autoscaling", .kind = "Scale"};

bool IsScale(const RequestInfo& info) { return info.subresource == "scale"; }

Json ScaleOf(const Json& object) {
  Json scale = {
      {"apiVersion", "autoscaling/v1"},
      {"kind", "Scale"},
      {"metadata", Json::object()},
      {"spec", Json::object()},
      {"status", {{"replicas", GetInt(object, "status", "replicas")}}}};
  for (const char* key :
       {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    CopyMember(object["metadata"], key, scale["metadata"]);
  }
  if (const auto replicas = GetInt(object, "spec", "replicas")) {
    scale["spec"]["replicas"] = replicas;
  }
  const std::string selector = SelectorText(Get(object, "spec", "selector"));
  if (!selector.empty()) scale["status"]["selector"] = selector;
  return scale;
}

Json WithScale(Json object, const Json& scale) {
  const std::int64_t replicas = GetInt(scale, "spec", "replicas");
  FieldErrors errors;
  if (replicas < 0) {
    errors.Invalid("spec.replicas", replicas,
                   "must be greater than or equal to 0");
  }
  errors.ThrowIfAny(kScale, NameOf(object));
  object["spec"]["replicas"] = replicas;
  CopyMember(Get(scale, "metadata"), "resourceVersion", object["metadata"]);
  return object;
}

// The fields that have different names in core/v1 and in events.k8s.io/v1.
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

const ResourceRow& ShownRow(const RequestInfo& info) {
  return IsScale(info) ? kScale : *info.row;
}

std::string_view WrittenSubresource(const RequestInfo& info) {
  return IsScale(info) ? std::string_view() : info.subresource;
}

Json ToShown(const RequestInfo& info, const Json& stored) {
  if (IsScale(info)) return ScaleOf(stored);
  return &StorageRow(*info.row) == info.row ? stored : ToEventsV1(stored);
}

Json ToStored(const RequestInfo& info, const Json& old, Json shown) {
  if (IsScale(info)) return WithScale(old, shown);
  return &StorageRow(*info.row) == info.row ? std::move(shown)
                                            : FromEventsV1(std::move(shown));
}

Json ToEventsV1(Json event) {
  for (const auto& [core, v1] : kNames) Rename(event, core, v1);
  // Only the core group's form has these fields when they are empty.
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
