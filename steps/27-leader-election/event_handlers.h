#pragma once

#include <functional>
#include <memory>
#include <set>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/cache.h"
#include "cache/pod_groups.h"
#include "framework/framework.h"
#include "framework/waiting_pods.h"
#include "minisched/api/node.h"
#include "minisched/informer/shared_informer_factory.h"
#include "queue/scheduling_queue.h"

namespace minisched {

// Updates the queue and the cache when informers report changes. The queue gets
// the pods of this scheduler that have no node. The cache gets all nodes, and
// all pods that have a node. Thread-safe after AddAllEventHandlers(). Follows
// kube-scheduler's eventhandlers.go.
class EventHandlers {
 public:
  // The arguments passed by reference must outlive the informers that call the
  // handlers. `responsible_for_pod` returns true if the pod belongs to one of
  // the scheduler's profiles.
  EventHandlers(SchedulingQueue& queue, Cache& cache, WaitingPods& waiting_pods,
                PodGroups& pod_groups,
                std::function<bool(const Pod&)> responsible_for_pod)
      : queue_(queue),
        cache_(cache),
        waiting_pods_(waiting_pods),
        pod_groups_(pod_groups),
        responsible_for_pod_(std::move(responsible_for_pod)) {}

  // Registers the handlers. Call once, before the informers are started; this
  // object must outlive them.
  void AddAllEventHandlers(SharedInformerFactory& informers);

  // Registers handlers for the kinds, other than pods and nodes, of which the
  // plugins have registered events. Other kinds aren't watched. Call once for
  // each framework, before the informers are started.
  void AddHandlersOfRegisteredKinds(SharedInformerFactory& informers,
                                    const Framework& framework);

  // Blocks until the handlers have been called for all objects that existed
  // when the informers started. Returns false if `stop` asked to stop first.
  bool WaitForHandlersSync(const std::stop_token& stop) const;

 private:
  using NodePtr = std::shared_ptr<const Node>;

  template <class T>
  void AddHandlerOf(EventResource resource, SharedInformerFactory& informers,
                    const Framework& framework);

  void AddNodeToCache(const NodePtr& node);
  void UpdateNodeInCache(const NodePtr& old, const NodePtr& node);
  void DeleteNodeFromCache(const NodePtr& node);

  void AddPod(const PodPtr& pod);
  void UpdatePod(const PodPtr& old, const PodPtr& pod);
  void DeletePod(const PodPtr& pod);

  void AddAssignedPodToCache(const PodPtr& pod);
  void UpdateAssignedPodInCache(const PodPtr& old, const PodPtr& pod);
  void DeleteAssignedPodFromCache(const PodPtr& pod);

  void AddPodToSchedulingQueue(const PodPtr& pod);
  void UpdatePodInSchedulingQueue(const PodPtr& old, const PodPtr& pod);
  void DeletePodFromSchedulingQueue(const PodPtr& pod);

  // Ends the pod's wait on Permit, because the pod is being deleted. Returns
  // true if the wait ends, or has ended, with a rejection: then the pod's
  // binding cycle gives back its resources.
  bool RejectWaitingPod(const Pod& pod);

  bool ResponsibleForPod(const Pod& pod) const;

  SchedulingQueue& queue_;
  Cache& cache_;
  WaitingPods& waiting_pods_;
  PodGroups& pod_groups_;
  const std::function<bool(const Pod&)> responsible_for_pod_;
  std::set<std::string_view> watched_;  // kinds that have a handler
  std::vector<HandlerRegistration> registrations_;
};

}  // namespace minisched
