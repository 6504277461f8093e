#include "minisched/apiserver/event_recorder.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/resources.h"

namespace minisched::apiserver {
namespace {

constexpr std::size_t kMaxSimilar = 10;
constexpr std::chrono::minutes kSimilarFor{10};
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
                           const std::string& reason, std::string message,
                           const std::string& host) {
  if (names_.size() > kMaxRemembered) {
    names_.clear();
    similar_.clear();
  }
  const Time now = registry_.loop().Now();
  std::string key = UidOf(object) + " " + host + " " + type + " " + reason;
  Similar& similar = similar_[key];
  if (now - similar.last > kSimilarFor) similar.messages.clear();
  similar.last = now;
  similar.messages.insert(message);
  if (similar.messages.size() < kMaxSimilar) {
    key += " " + message;
  } else {
    similar.messages.erase(similar.messages.begin());
    message = "(combined from similar events): " + message;
  }

  Json event = {{"involvedObject", ReferenceTo(object)},
                {"type", type},
                {"reason", reason},
                {"message", std::move(message)},
                {"count", 1},
                {"firstTimestamp", FormatTime(now)},
                {"lastTimestamp", FormatTime(now)},
                {"source", {{"component", component_}}},
                {"reportingComponent", component_},
                {"reportingInstance", host}};
  if (!host.empty()) event["source"]["host"] = host;
  try {
    Write(key, std::move(event));
  } catch (const StatusError& error) {
    spdlog::debug("no event {} of {}: {}", reason, NameOf(object),
                  error.what());
  }
}

void EventRecorder::Write(const std::string& key, Json event) {
  const ResourceRow& events = GetResource("", "events");
  const Json& about = event["involvedObject"];
  std::string ns = GetString(about, "namespace");
  if (ns.empty()) ns = "default";
  std::string& name = names_[key];
  if (registry_.store().Find(CollectionOf(events), {ns, name})) {
    registry_.Update(events, "", ns, name, [&](const Json& old) {
      Json again = old;
      again["count"] = GetInt(old, "count") + 1;
      again["lastTimestamp"] = event["lastTimestamp"];
      again["message"] = event["message"];
      return again;
    });
    return;
  }
  // In nanoseconds, as client-go has it, and never the same twice.
  stamp_ = std::max(stamp_ + 1,
                    registry_.loop().Now().time_since_epoch().count() * 1000);
  name = fmt::format("{}.{:x}", GetString(about, "name"), stamp_);
  event["metadata"] = {{"name", name}};
  registry_.Create(events, ns, std::move(event));
}

}  // namespace minisched::apiserver
