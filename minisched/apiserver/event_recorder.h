#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "minisched/apiserver/object.h"
#include "minisched/apiserver/registry.h"

namespace minisched::apiserver {

// Writes the events (core/v1) of one component: what is said again makes the
// count of an event grow, and what is said ten times within ten minutes with
// nothing but another message becomes one event. Follows client-go
// tools/record/events_cache.go.
class EventRecorder {
 public:
  EventRecorder(Registry& registry, std::string component);

  // `type` is "Normal" or "Warning"; `host` the component's, if it has one.
  // Where the event can't be written (its namespace may be going), there is
  // none.
  void Record(const Json& object, const std::string& type,
              const std::string& reason, std::string message,
              const std::string& host = "");

 private:
  struct Similar {
    std::set<std::string> messages;
    Time last;
  };

  void Write(const std::string& key, Json event);

  Registry& registry_;
  std::string component_;
  std::map<std::string, Similar> similar_;
  std::map<std::string, std::string> names_;  // of the events, by what they say
  std::int64_t stamp_ = 0;                    // of the last event's name
};

}  // namespace minisched::apiserver
