#pragma once

#include <optional>
#include <string>

#include "minisched/api/reference.h"
#include "minisched/events/event_recorder.h"

namespace minisched {

inline ObjectReference PodReference(const std::string& name) {
  return {"v1", "Pod", "default", name, "uid-" + name};
}

inline void SayFailed(EventRecorder& recorder, const std::string& pod,
                      const std::string& note = "0/1 nodes are available") {
  recorder.Eventf(PodReference(pod), std::nullopt, "Warning",
                  "FailedScheduling", "Scheduling", note);
}

}  // namespace minisched
