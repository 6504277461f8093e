#pragma once

#include <optional>
#include <string>

#include "minisched/api/reference.h"
#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"
#include "minisched/events/event_recorder.h"

namespace minisched {

// What tests see of an EventRecorder.
struct EventRecorderPeer {
  // Blocks until no write is under way. Then each event is written, or waits
  // for its time.
  static void AwaitRest(EventRecorder& recorder) {
    MutexLock lock(recorder.mu_);
    while (recorder.writing_ > 0) recorder.settled_.Wait(recorder.mu_);
  }

  // Returns the time at which the recorder acts next.
  static Clock::TimePoint NextTime(EventRecorder& recorder) {
    MutexLock lock(recorder.mu_);
    return recorder.timer_.time;
  }
};

inline ObjectReference PodReference(const std::string& name) {
  return {"v1", "Pod", "default", name, "uid-" + name};
}

inline void RecordFailed(EventRecorder& recorder, const std::string& pod,
                         const std::string& note = "0/1 nodes are available") {
  recorder.Eventf(PodReference(pod), std::nullopt, "Warning",
                  "FailedScheduling", "Scheduling", note);
}

}  // namespace minisched
