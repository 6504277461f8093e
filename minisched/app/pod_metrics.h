#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "minisched/api/pod.h"
#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"
#include "minisched/metrics/metrics.h"
#include "minisched/trace/records.h"

namespace minisched {

// Counts metrics of pods by their moves, so that a scheduler that reports moves
// to the trace need not count them itself. Thread-safe; the callers may hold
// locks.
class PodMetrics {
 public:
  // `metrics` and `clock` must outlive the object.
  PodMetrics(Metrics& metrics, Clock& clock)
      : metrics_(metrics), clock_(clock) {}

  // Counts a move of the pod: see Trace::MoveObserver.
  void Moved(const Pod& pod, Place place, const Move& move) EXCLUDES(mu_);

 private:
  // A pod that is not bound yet.
  struct PendingPod {
    std::string profile;
    std::optional<Clock::TimePoint> queued;  // when it was active first
    std::optional<Clock::TimePoint> popped;  // set while it is in flight
    // The plugins that have rejected the pod, or hold it back. Empty once the
    // pod is popped.
    std::vector<std::string> plugins;
  };

  void CountQueue(Place place, const std::string& event);
  void SetPlugins(PendingPod& pending, const std::vector<std::string>& plugins)
      REQUIRES(mu_);

  Metrics& metrics_;
  Clock& clock_;
  Mutex mu_;
  std::map<std::string, PendingPod> pending_ GUARDED_BY(mu_);  // by uid
};

}  // namespace minisched
