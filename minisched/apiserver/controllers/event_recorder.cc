#include "minisched/apiserver/controllers/event_recorder.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/resources.h"

namespace minisched::apiserver {
namespace {

constexpr int kMaxSimilar = 10;
// That many are remembered; then it begins anew.
constexpr std::size_t kMaxRemembered = 4096;

Json ReferenceTo(const Json& object) {
  Json reference = {{"apiVersion", object["apiVersion"]},
                    {"kind", object["kind"]}};
  for (const char* key : {"namespace", "name", "uid", "resourceVersion"}) {
    const Json& value = Get(object, "metadata", key);
    if (!value.is_null()) reference[key] = value;
  }
  return reference;
}

}  // namespace

EventRecorder::EventRecorder(Registry& registry, std::string component)
    : registry_(registry), component_(std::move(component)) {}

void EventRecorder::Record(const Json& object, const std::string& type,
                           const std::string& reason, std::string message) {
  const ResourceRow& events = GetResource("", "events");
  std::string ns = NamespaceOf(object);
  if (ns.empty()) ns = "default";
  if (names_.size() > kMaxRemembered) {
    names_.clear();
    similar_.clear();
  }
  const std::string similar = UidOf(object) + " " + type + " " + reason;
  std::string key = similar + " " + message;
  if (!names_.contains(key) && ++similar_[similar] >= kMaxSimilar) {
    key = similar;
    message = "(combined from similar events): " + message;
  }
  std::string& name = names_[key];
  const std::string now = registry_.Now();
  try {
    if (registry_.store().Find(CollectionOf(events), {ns, name})) {
      registry_.Update(events, "", ns, name, [&](Json event) {
        event["count"] = GetInt(event, "count") + 1;
        event["lastTimestamp"] = now;
        event["message"] = message;
        return event;
      });
      return;
    }
    // In nanoseconds, as client-go has it, and never the same twice.
    stamp_ = std::max(stamp_ + 1,
                      registry_.loop().Now().time_since_epoch().count() * 1000);
    name = fmt::format("{}.{:x}", NameOf(object), stamp_);
    registry_.Create(events, ns,
                     {{"metadata", {{"name", name}}},
                      {"involvedObject", ReferenceTo(object)},
                      {"type", type},
                      {"reason", reason},
                      {"message", message},
                      {"count", 1},
                      {"firstTimestamp", now},
                      {"lastTimestamp", now},
                      {"source", {{"component", component_}}},
                      {"reportingComponent", component_},
                      {"reportingInstance", ""}});
  } catch (const StatusError& error) {
    spdlog::debug("no event {} of {}: {}", reason, NameOf(object),
                  error.what());
  }
}

}  // namespace minisched::apiserver
