#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "minisched/apiserver/controller.h"
#include "minisched/apiserver/event_recorder.h"

namespace minisched::apiserver {

// Says in the status of each PodDisruptionBudget how many of its pods may be
// evicted now. Follows pkg/controller/disruption.
class DisruptionController : public Controller {
 public:
  explicit DisruptionController(Registry& registry);

 private:
  void Sync(const ObjectKey& key) override;
  // How many pods the controllers of those pods want.
  std::int64_t ExpectedPods(const std::vector<Object>& pods) const;
  // Those that were evicted and haven't begun to go, as far as is known.
  Json DisruptedPods(const Json& budget) const;

  EventRecorder recorder_;
};

}  // namespace minisched::apiserver
