#include "framework/cluster_event.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <tuple>

#include "minisched/api/pod_requests.h"

namespace minisched {
namespace {

// Indexed by bit.
constexpr std::array kActionNames = {"Add",
                                     "Delete",
                                     "UpdateNodeAllocatable",
                                     "UpdateNodeLabel",
                                     "UpdateNodeTaint",
                                     "UpdateNodeCondition",
                                     "UpdateNodeAnnotation",
                                     "UpdatePodLabel",
                                     "UpdatePodScaleDown",
                                     "UpdatePodScaleUp",
                                     "UpdatePodToleration",
                                     "UpdatePodSchedulingGatesEliminated"};

// Returns the names of the bits. All updates together have a single name, and
// so have all actions.
std::vector<std::string> ActionNames(ActionType action) {
  if (action == action::kAll) return {"All"};
  std::vector<std::string> names;
  if ((action & action::kUpdate) == action::kUpdate) {
    names.emplace_back("Update");
    action &= ~action::kUpdate;
  }
  for (std::size_t bit = 0; bit < kActionNames.size(); ++bit) {
    if ((action >> bit & 1) != 0) names.emplace_back(kActionNames.at(bit));
  }
  return names;
}

bool SameTaints(const std::vector<Taint>& a, const std::vector<Taint>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) {
                      return std::tie(x.key, x.value, x.effect, x.time_added) ==
                             std::tie(y.key, y.value, y.effect, y.time_added);
                    });
}

// Returns the status of each condition, by type. Ignores times, which each
// heartbeat changes, and reasons and messages.
std::map<std::string, std::string> ConditionStatuses(const Node& node) {
  std::map<std::string, std::string> statuses;
  for (const Condition& condition : node.status.conditions) {
    statuses[condition.type] = condition.status;
  }
  return statuses;
}

// Returns true if a request of the first pod is larger than the second pod's.
bool RequestsMore(const Pod& first, const Pod& second) {
  const PodRequestsOptions options{.use_status_resources = true};
  const ResourceList requests = PodRequests(first, options);
  const ResourceList others = PodRequests(second, options);
  return std::any_of(requests.begin(), requests.end(), [&](const auto& each) {
    const auto other = others.find(each.first);
    return other == others.end() || each.second > other->second;
  });
}

}  // namespace

std::string ClusterEvent::Label() const {
  return std::string(resource.name) + ActionNames(action_type).front();
}

std::set<std::string> ClusterEvent::Names() const {
  std::set<std::string> names;
  for (const std::string& action : ActionNames(action_type)) {
    names.insert(std::string(resource.name) + "/" + action);
  }
  return names;
}

bool ClusterEvent::Matches(const ClusterEvent& incoming) const {
  const bool same_resource =
      resource == incoming.resource ||
      (resource == EventResource::kPod &&
       (incoming.resource == EventResource::kAssignedPod ||
        incoming.resource == EventResource::kTargetPod));
  return same_resource && (incoming.action_type & ~action_type) == 0;
}

std::vector<ClusterEvent> NodeSchedulingPropertiesChange(const Node& old,
                                                         const Node& node) {
  std::vector<ClusterEvent> events;
  const auto add_if = [&](bool changed, ActionType action) {
    if (changed) events.push_back({EventResource::kNode, action});
  };
  add_if(old.spec.unschedulable && !node.spec.unschedulable,
         action::kUpdateNodeTaint);
  add_if(old.status.allocatable != node.status.allocatable,
         action::kUpdateNodeAllocatable);
  add_if(old.metadata.labels != node.metadata.labels, action::kUpdateNodeLabel);
  add_if(!SameTaints(old.spec.taints, node.spec.taints),
         action::kUpdateNodeTaint);
  add_if(ConditionStatuses(old) != ConditionStatuses(node),
         action::kUpdateNodeCondition);
  add_if(old.metadata.annotations != node.metadata.annotations,
         action::kUpdateNodeAnnotation);
  return events;
}

std::vector<ClusterEvent> PodSchedulingPropertiesChange(const Pod& old,
                                                        const Pod& pod) {
  const EventResource resource = pod.spec.node_name.empty()
                                     ? EventResource::kTargetPod
                                     : EventResource::kAssignedPod;
  std::vector<ClusterEvent> events;
  const auto add_if = [&](bool changed, ActionType action) {
    if (changed) events.push_back({resource, action});
  };
  add_if(old.metadata.labels != pod.metadata.labels, action::kUpdatePodLabel);
  add_if(RequestsMore(old, pod), action::kUpdatePodScaleDown);
  add_if(RequestsMore(pod, old), action::kUpdatePodScaleUp);
  add_if(
      !old.spec.scheduling_gates.empty() && pod.spec.scheduling_gates.empty(),
      action::kUpdatePodSchedulingGatesEliminated);
  // The API server allows users to add tolerations, not to change them.
  add_if(old.spec.tolerations.size() != pod.spec.tolerations.size(),
         action::kUpdatePodToleration);
  if (events.empty()) events.push_back({resource, action::kUpdate});
  return events;
}

}  // namespace minisched
