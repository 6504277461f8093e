#pragma once

#include <string>
#include <vector>

#include "minisched/apiserver/event_recorder.h"
#include "minisched/apiserver/owner_controller.h"

namespace minisched::apiserver {

// Sees to it that each Deployment has a ReplicaSet of its template, as large as
// it wants, and that those of its earlier templates shrink in step. Follows
// pkg/controller/deployment.
class DeploymentController : public OwnerController {
 public:
  explicit DeploymentController(Registry& registry);

 private:
  // A Deployment and what belongs to it, as they are in the store.
  struct Rollout {
    ObjectKey key;
    Object deployment;
    Object current;           // nullptr while there is none of its template
    std::vector<Object> old;  // the oldest first

    // All of them.
    std::vector<Object> Sets() const;
  };

  void Sync(const ObjectKey& key) override;
  Rollout Load(const ObjectKey& key);

  // The number of the template, which goes up with each change.
  void SyncRevision(Rollout& rollout);
  void CheckPaused(Rollout& rollout);
  bool IsScalingEvent(const Rollout& rollout) const;

  // Makes the ReplicaSet of the template.
  void CreateCurrent(Rollout& rollout);
  // Each returns whether there was anything to do.
  bool RollUp(Rollout& rollout);
  bool RollDown(Rollout& rollout);
  bool ScaleDownOld(Rollout& rollout);
  void Recreate(Rollout& rollout);
  // Has what belongs to it grow or shrink as the Deployment does.
  void Scale(Rollout& rollout);
  void ScaleProportionally(Rollout& rollout);
  bool ScaleTo(const Rollout& rollout, Object& set, std::int64_t replicas,
               bool annotate = false);
  void DeleteOldest(const Rollout& rollout);

  // `rolling` if it is to be judged whether this gets on.
  void UpdateStatus(Rollout& rollout, bool rolling);
  void EditDeployment(Rollout& rollout, std::string_view subresource,
                      const std::function<void(Json&)>& change);

  EventRecorder recorder_;
};

}  // namespace minisched::apiserver
