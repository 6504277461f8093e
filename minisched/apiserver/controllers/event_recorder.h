#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "minisched/apiserver/object.h"
#include "minisched/apiserver/registry.h"

namespace minisched::apiserver {

// Writes the events (core/v1) of one component: what is said again makes the
// count of an event grow, and of what differs in its message only, all from the
// tenth on becomes one event. Follows client-go tools/record/events_cache.go.
class EventRecorder {
 public:
  EventRecorder(Registry& registry, std::string component);

  // `type` is "Normal" or "Warning". Where the event can't be written (its
  // namespace may be going), there is none.
  void Record(const Json& object, const std::string& type,
              const std::string& reason, std::string message);

 private:
  Registry& registry_;
  std::string component_;
  // How many events differ in their message only.
  std::map<std::string, int> similar_;
  std::map<std::string, std::string> names_;  // of the events, by what they say
  std::int64_t stamp_ = 0;                    // of the last event's name
};

}  // namespace minisched::apiserver
