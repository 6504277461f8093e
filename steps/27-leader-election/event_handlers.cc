#include "event_handlers.h"

#include <algorithm>

#include "minisched/api/persistent_volume.h"
#include "minisched/api/storage.h"

namespace minisched {
namespace {

bool AssignedPod(const Pod& pod) { return !pod.spec.node_name.empty(); }

}  // namespace

void EventHandlers::AddAllEventHandlers(SharedInformerFactory& informers) {
  registrations_.push_back(informers.Of<Pod>().AddEventHandler(
      {.on_add = [this](const PodPtr& pod, bool) { AddPod(pod); },
       .on_update = [this](const PodPtr& old,
                           const PodPtr& pod) { UpdatePod(old, pod); },
       .on_delete = [this](const PodPtr& pod) { DeletePod(pod); }}));
  registrations_.push_back(informers.Of<Node>().AddEventHandler(
      {.on_add = [this](const NodePtr& node, bool) { AddNodeToCache(node); },
       .on_update = [this](
                        const NodePtr& old,
                        const NodePtr& node) { UpdateNodeInCache(old, node); },
       .on_delete =
           [this](const NodePtr& node) { DeleteNodeFromCache(node); }}));
}

void EventHandlers::AddHandlersOfRegisteredKinds(
    SharedInformerFactory& informers, const Framework& framework) {
  AddHandlerOf<PersistentVolume>(EventResource::kPersistentVolume, informers,
                                 framework);
  AddHandlerOf<PersistentVolumeClaim>(EventResource::kPersistentVolumeClaim,
                                      informers, framework);
  AddHandlerOf<StorageClass>(EventResource::kStorageClass, informers,
                             framework);
  AddHandlerOf<CSIDriver>(EventResource::kCSIDriver, informers, framework);
  AddHandlerOf<CSIStorageCapacity>(EventResource::kCSIStorageCapacity,
                                   informers, framework);
}

template <class T>
void EventHandlers::AddHandlerOf(EventResource resource,
                                 SharedInformerFactory& informers,
                                 const Framework& framework) {
  const auto is_of_kind = [&](const QueueingHintFunction& hint) {
    return hint.registered.event.resource == resource;
  };
  if (std::ranges::none_of(framework.queueing_hints(), is_of_kind)) return;
  // Another profile may have registered events of this kind.
  if (!watched_.insert(T::kResource.plural).second) return;
  const auto move = [this, resource](ActionType action, EventObject old,
                                     EventObject now) {
    queue_.MoveAllToActiveOrBackoffQueue(
        {{resource, action}, std::move(old), std::move(now)});
  };
  using Ptr = std::shared_ptr<const T>;
  registrations_.push_back(informers.Of<T>().AddEventHandler(
      {.on_add = [=](const Ptr& now, bool) { move(action::kAdd, {}, now); },
       .on_update = [=](const Ptr& old,
                        const Ptr& now) { move(action::kUpdate, old, now); },
       .on_delete = [=](const Ptr& old) { move(action::kDelete, old, {}); }}));
}

bool EventHandlers::WaitForHandlersSync(const std::stop_token& stop) const {
  return std::all_of(
      registrations_.begin(), registrations_.end(),
      [&](const auto& registration) { return registration.WaitForSync(stop); });
}

void EventHandlers::AddNodeToCache(const NodePtr& node) {
  cache_.AddNode(node);
  queue_.MoveAllToActiveOrBackoffQueue(
      {{EventResource::kNode, action::kAdd}, {}, node});
}

void EventHandlers::UpdateNodeInCache(const NodePtr& old, const NodePtr& node) {
  cache_.UpdateNode(node);
  for (const auto& event : NodeSchedulingPropertiesChange(*old, *node)) {
    queue_.MoveAllToActiveOrBackoffQueue({event, old, node});
  }
}

void EventHandlers::DeleteNodeFromCache(const NodePtr& node) {
  cache_.RemoveNode(*node);
  // kube-scheduler lets these pods wait, and binds them to the missing node.
  waiting_pods_.IterateOverWaitingPods([&](const WaitingPod& waiting) {
    if (waiting.node_name != node->metadata.name) return;
    waiting_pods_.Reject(waiting.pod->metadata.uid, "", "node deleted");
  });
  queue_.MoveAllToActiveOrBackoffQueue(
      {{EventResource::kNode, action::kDelete}, node, {}});
}

void EventHandlers::AddPod(const PodPtr& pod) {
  pod_groups_.Set(pod);
  if (AssignedPod(*pod)) {
    AddAssignedPodToCache(pod);
  } else if (ResponsibleForPod(*pod)) {
    AddPodToSchedulingQueue(pod);
  }
}

void EventHandlers::UpdatePod(const PodPtr& old, const PodPtr& pod) {
  pod_groups_.Set(pod);
  if (AssignedPod(*old)) {
    UpdateAssignedPodInCache(old, pod);
  } else if (AssignedPod(*pod)) {
    AddAssignedPodToCache(pod);
    // The pod was bound, by this scheduler or by another one.
    if (ResponsibleForPod(*old)) DeletePodFromSchedulingQueue(old);
  } else if (ResponsibleForPod(*old) && !cache_.IsAssumedPod(*pod)) {
    UpdatePodInSchedulingQueue(old, pod);
  } else {
    // The change may help the pod if it is rejected on Permit.
    queue_.UpdateInFlight(old, pod);
    if (pod->metadata.deletion_timestamp && !RejectWaitingPod(*pod)) {
      // The pod's Binding is under way, and will fail.
      DeleteAssignedPodFromCache(pod);
    }
  }
}

void EventHandlers::DeletePod(const PodPtr& pod) {
  // The binding cycle of a rejected pod gives back its resources after
  // Unreserve, but only if the pod is assumed, not if another scheduler has
  // bound it.
  if (!RejectWaitingPod(*pod) || AssignedPod(*pod)) {
    // Also if the pod has no node: the informer may have missed its Binding.
    DeleteAssignedPodFromCache(pod);
  }
  if (ResponsibleForPod(*pod)) DeletePodFromSchedulingQueue(pod);
  pod_groups_.Remove(*pod);
}

void EventHandlers::AddAssignedPodToCache(const PodPtr& pod) {
  cache_.AddPod(pod);
  queue_.MoveAllToActiveOrBackoffQueue(
      {{EventResource::kAssignedPod, action::kAdd}, {}, pod});
}

void EventHandlers::UpdateAssignedPodInCache(const PodPtr& old,
                                             const PodPtr& pod) {
  cache_.UpdatePod(pod);
  for (const auto& event : PodSchedulingPropertiesChange(*old, *pod)) {
    queue_.MoveAllToActiveOrBackoffQueue({event, old, pod});
  }
}

void EventHandlers::DeleteAssignedPodFromCache(const PodPtr& pod) {
  // If the pod is assumed, only the cache has its node.
  if (const PodPtr removed = cache_.RemovePod(*pod)) {
    queue_.MoveAllToActiveOrBackoffQueue(
        {{EventResource::kAssignedPod, action::kDelete}, removed, {}});
  }
}

void EventHandlers::AddPodToSchedulingQueue(const PodPtr& pod) {
  queue_.Add(pod);
}

void EventHandlers::UpdatePodInSchedulingQueue(const PodPtr& old,
                                               const PodPtr& pod) {
  queue_.Update(old, pod);
}

void EventHandlers::DeletePodFromSchedulingQueue(const PodPtr& pod) {
  queue_.Delete(*pod);
}

bool EventHandlers::RejectWaitingPod(const Pod& pod) {
  const std::string& uid = pod.metadata.uid;
  return waiting_pods_.Reject(uid, "", "removed") ||
         waiting_pods_.IsRejected(uid);
}

bool EventHandlers::ResponsibleForPod(const Pod& pod) const {
  return responsible_for_pod_(pod);
}

}  // namespace minisched
