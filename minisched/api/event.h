#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "minisched/api/api_resource.h"
#include "minisched/api/meta.h"
#include "minisched/api/reference.h"
#include "minisched/api/time.h"

namespace minisched {

// The types of events.k8s.io/v1. See meta.h for what absent fields are.

// How often an event has been seen: twice or more.
struct EventSeries {
  std::int32_t count = 0;
  std::optional<MicroTime> last_observed_time;
};

// What has happened to an object, told to people: `kubectl describe` shows it.
// The API server forgets it after an hour.
struct Event {
  static constexpr ApiResource kResource{"events.k8s.io", "v1", "events",
                                         "Event", true};

  ObjectMeta metadata;
  std::optional<MicroTime> event_time;  // when it was first seen
  std::optional<EventSeries> series;
  std::string reporting_controller;  // "kubernetes.io/kubelet"
  std::string reporting_instance;    // "kubelet-node-1"
  std::string action;                // what was being done: "Binding"
  std::string reason;  // what came of it, in one word: "Scheduled"
  // What it happened to, and what else had to do with it.
  ObjectReference regarding;
  std::optional<ObjectReference> related;
  std::string note;
  std::string type;  // "Normal", "Warning"
};

}  // namespace minisched
