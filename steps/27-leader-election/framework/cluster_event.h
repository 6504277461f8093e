#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

#include "minisched/api/node.h"
#include "minisched/api/pod.h"

namespace minisched {

// The kind of an object that changes, by its name. An incoming event has
// kAssignedPod, kTargetPod or another kind, but not kPod.
struct EventResource {
  static const EventResource kPod;  // registers kAssignedPod and kTargetPod
  static const EventResource kAssignedPod;  // a pod that has a node
  static const EventResource kTargetPod;    // the pending pod itself
  static const EventResource kNode;
  static const EventResource kPersistentVolume;
  static const EventResource kPersistentVolumeClaim;
  static const EventResource kStorageClass;
  static const EventResource kCSIDriver;
  static const EventResource kCSIStorageCapacity;
  // No object changes: the scheduler itself moves a pod.
  static const EventResource kWildCard;

  std::string_view name;

  bool operator==(const EventResource&) const = default;
};
inline constexpr EventResource EventResource::kPod{"Pod"};
inline constexpr EventResource EventResource::kAssignedPod{"AssignedPod"};
inline constexpr EventResource EventResource::kTargetPod{"TargetPod"};
inline constexpr EventResource EventResource::kNode{"Node"};
inline constexpr EventResource EventResource::kPersistentVolume{
    "PersistentVolume"};
inline constexpr EventResource EventResource::kPersistentVolumeClaim{
    "PersistentVolumeClaim"};
inline constexpr EventResource EventResource::kStorageClass{
    "storage.k8s.io/StorageClass"};
inline constexpr EventResource EventResource::kCSIDriver{
    "storage.k8s.io/CSIDriver"};
inline constexpr EventResource EventResource::kCSIStorageCapacity{
    "storage.k8s.io/CSIStorageCapacity"};
inline constexpr EventResource EventResource::kWildCard{"*"};

// What happens to an object: one of these bits. Plugins can register several
// bits together.
using ActionType = std::uint32_t;
namespace action {
inline constexpr ActionType kAdd = 1 << 0;
inline constexpr ActionType kDelete = 1 << 1;
inline constexpr ActionType kUpdateNodeAllocatable = 1 << 2;
inline constexpr ActionType kUpdateNodeLabel = 1 << 3;
inline constexpr ActionType kUpdateNodeTaint = 1 << 4;  // or uncordoned
inline constexpr ActionType kUpdateNodeCondition = 1 << 5;
inline constexpr ActionType kUpdateNodeAnnotation = 1 << 6;
inline constexpr ActionType kUpdatePodLabel = 1 << 7;
inline constexpr ActionType kUpdatePodScaleDown = 1 << 8;
inline constexpr ActionType kUpdatePodScaleUp = 1 << 9;
inline constexpr ActionType kUpdatePodToleration = 1 << 10;
inline constexpr ActionType kUpdatePodSchedulingGatesEliminated = 1 << 11;
// Any update. As an incoming event: an update that is none of the above.
inline constexpr ActionType kUpdate = (1 << 12) - (1 << 2);
inline constexpr ActionType kAll = kUpdate | kAdd | kDelete;
}  // namespace action

// A kind of change in the cluster. Follows k8s.io/kube-scheduler's
// framework/types.go.
struct ClusterEvent {
  EventResource resource;
  ActionType action_type;

  // Returns upstream's label of an incoming event, such as "NodeAdd".
  std::string Label() const;
  // Returns the names of the single changes, such as "Node/Add".
  std::set<std::string> Names() const;
  // Returns true if this registered event includes the incoming one.
  bool Matches(const ClusterEvent& incoming) const;
};

// An object of any kind, or none.
class EventObject {
 public:
  EventObject() = default;
  template <class T>
  EventObject(std::shared_ptr<T> object)  // NOLINT(google-explicit-constructor)
      : object_(std::move(object)), type_(typeid(T)) {}

  // Returns the object, or null if there is none or if it has another type.
  template <class T>
  std::shared_ptr<const T> As() const {
    if (type_ != typeid(T)) return nullptr;
    return std::static_pointer_cast<const T>(object_);
  }

 private:
  std::shared_ptr<const void> object_;
  std::type_index type_ = typeid(void);
};

// One change in the cluster.
struct ClusterChange {
  ClusterEvent event;
  EventObject old_object;  // none: the object was added
  EventObject new_object;  // none: the object was deleted
  // The change can help only pods up to this priority. Unset: all pods.
  std::optional<std::int32_t> max_priority = {};

  template <class T>
  std::shared_ptr<const T> Old() const {
    return old_object.As<T>();
  }
  template <class T>
  std::shared_ptr<const T> New() const {
    return new_object.As<T>();
  }
};

enum class QueueingHint {
  kSkip,   // the change can't help the pod
  kQueue,  // the pod may be schedulable now
};

inline QueueingHint QueueIf(bool may_help) {
  return may_help ? QueueingHint::kQueue : QueueingHint::kSkip;
}

// Returns kQueue if the change may make `pod` schedulable, which the plugin has
// rejected, and otherwise kSkip. Called under the queue's lock, so it must be
// quick.
using QueueingHintFn =
    std::function<QueueingHint(const Pod& pod, const ClusterChange& change)>;

// An event that may make pods schedulable, and the hint that checks the change.
// Without a hint, each such event moves the pod.
struct ClusterEventWithHint {
  ClusterEvent event;
  QueueingHintFn hint = nullptr;
  // Returns false if the change can't help any pod. Then the queue doesn't call
  // the hint, which it would call for each pod that the plugin has rejected.
  std::function<bool(const ClusterChange&)> concerns = nullptr;
};

// Return the events of an update. If no part that matters has changed, as in a
// heartbeat, the update of a node has no events, and that of a pod has one: a
// plain kUpdate. Follow kube-scheduler's framework/events.go.
std::vector<ClusterEvent> NodeSchedulingPropertiesChange(const Node& old,
                                                         const Node& node);
std::vector<ClusterEvent> PodSchedulingPropertiesChange(const Pod& old,
                                                        const Pod& pod);

}  // namespace minisched
