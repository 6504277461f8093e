#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "minisched/api/labels.h"
#include "minisched/api/pod.h"
#include "minisched/api/time.h"
#include "minisched/trace/records.h"

// Attempts of schedulers that write no records, from what they leave in the
// cluster: full records, as in docs/reference/trace.md.

namespace minisched::live {

// Returns the attempt that annotations of kube-scheduler-simulator describe,
// without its pod and number. The annotations have no weights, so each plugin
// gets the weight 1 and, as normalized scores, its weighted ones. Ignores
// malformed annotations.
Attempt AttemptOf(const Labels& annotations);

// Returns the attempt that the message of an event FailedScheduling describes:
// "0/3 nodes are available: 3 Insufficient cpu.".
Attempt FailedAttempt(const std::string& message);

// Returns a record of an attempt of the pod.
nlohmann::json AttemptRecord(Attempt attempt, const ObjectMeta& pod, int number,
                             Time time);

// Finds new attempts in the annotations of pods.
class SimulatorResults {
 public:
  // Returns the records of the attempts that earlier calls have not returned,
  // the oldest first.
  std::vector<nlohmann::json> Read(const Pod& pod, Time time);
  // Forgets a pod that is deleted.
  void Forget(const std::string& uid) { pods_.erase(uid); }

 private:
  struct Known {
    int attempts = 0;
    Labels last;  // the results of the last attempt
  };
  std::map<std::string, Known> pods_;  // by uid
};

}  // namespace minisched::live
