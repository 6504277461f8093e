#pragma once

#include <utility>

#include "minisched/trace/attempt_report.h"

namespace minisched {

// The state of one attempt to schedule a pod. Follows CycleState of
// k8s.io/kube-scheduler/framework.
class CycleState {
 public:
  CycleState() = default;  // reports nothing
  explicit CycleState(AttemptReport report) : report_(std::move(report)) {}

  // Reports what the plugins return, for the trace.
  const AttemptReport& report() const { return report_; }

 private:
  AttemptReport report_;
};

}  // namespace minisched
