#pragma once

#include <optional>
#include <string>
#include <vector>

#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/event_recorder.h"
#include "minisched/apiserver/owner_controller.h"

namespace minisched::apiserver {

// Sees to it that each ReplicaSet has as many pods as it wants. Follows
// pkg/controller/replicaset.
class ReplicaSetController : public OwnerController {
 public:
  explicit ReplicaSetController(Registry& registry);

 private:
  void Sync(const ObjectKey& key) override;
  // Each returns what went wrong.
  std::optional<StatusError> CreatePods(const Json& set, std::int64_t number);
  std::optional<StatusError> DeletePods(const Json& set,
                                        std::vector<Object> pods,
                                        std::size_t number);
  // Brings those to the front that can best be done without.
  void SortForDeletion(const Json& set, std::vector<Object>& pods);
  void UpdateStatus(const ObjectKey& key, const Json& set,
                    const std::vector<Object>& pods, const Json& failure);

  EventRecorder recorder_;
};

}  // namespace minisched::apiserver
