#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "minisched/api/api_resource.h"
#include "minisched/api/meta.h"
#include "minisched/api/reference.h"
#include "minisched/api/time.h"

namespace minisched {

// The types of events.k8s.io/v1. See meta.h for absent fields.

// How often an event occurred, if more than once.
struct EventSeries {
  std::int32_t count = 0;
  std::optional<MicroTime> last_observed_time;
};

// A report for people about an object: `kubectl describe` shows it. The API
// server deletes events after an hour.
struct Event {
  static constexpr ApiResource kResource{"events.k8s.io", "v1", "events",
                                         "Event", true};

  ObjectMeta metadata;
  std::optional<MicroTime> event_time;  // of the first occurrence
  std::optional<EventSeries> series;
  std::string reporting_controller;  // "kubernetes.io/kubelet"
  std::string reporting_instance;    // "kubelet-node-1"
  std::string action;                // what the controller did: "Binding"
  std::string reason;                // the result in one word: "Scheduled"
  ObjectReference regarding;         // the object of the event
  std::optional<ObjectReference> related;  // another object involved
  std::string note;                        // the message
  std::string type;                        // "Normal", "Warning"
};

}  // namespace minisched
