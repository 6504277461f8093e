#pragma once

#include <map>
#include <string>

#include "minisched/apiserver/controller.h"
#include "minisched/apiserver/event_recorder.h"

namespace minisched::apiserver {

// What the control plane does about nodes: the labels and taints that follow
// from their spec and conditions, events of their coming and going, the
// eviction of pods that don't tolerate a NoExecute taint, and the end of pods
// whose node is gone. Follows pkg/controller/nodelifecycle, tainteviction and
// podgc.
class NodeController : public Controller {
 public:
  explicit NodeController(Registry& registry);

 private:
  void Sync(const ObjectKey& key) override;
  void SyncNode(const ObjectKey& key, const Object& node);
  // Evicts the pod if it is time to.
  void SyncPod(const ObjectKey& key, const Json& pod);
  // Tells the pod why it is going, and deletes it.
  void Disrupt(const Json& pod, const std::string& reason,
               const std::string& message, bool node_is_gone);

  EventRecorder recorder_;
  EventRecorder evictions_;
  Index pods_;                           // by node
  std::map<std::string, Object> known_;  // nodes whose coming was announced
  // When pods are to be evicted, by uid: those that tolerate a taint for a
  // time.
  std::map<std::string, Time> due_;
};

}  // namespace minisched::apiserver
