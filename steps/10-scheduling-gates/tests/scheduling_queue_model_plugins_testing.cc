#include "tests/scheduling_queue_model_plugins_testing.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "plugins/priority_sort.h"
#include "plugins/scheduling_gates.h"
#include "tests/queue_framework_testing.h"

namespace minisched {
namespace {

bool IsOwnUpdate(const Pod& pod, const ClusterChange& change) {
  return change.New<Pod>()->metadata.uid == pod.metadata.uid;
}

template <class Object>
int Version(const std::shared_ptr<const Object>& object) {
  return object ? std::stoi(object->metadata.resource_version) : 0;
}

// Returns true for a third of all changes. Depends on the pod and on both
// objects.
bool IsLucky(const Pod& pod, const ClusterChange& change) {
  const int old = Version(change.Old<Node>()) + Version(change.Old<Pod>());
  const int now = Version(change.New<Node>()) + Version(change.New<Pod>());
  return (std::stoi(pod.metadata.resource_version) + 2 * old + now) % 3 == 0;
}

// The effect of an incoming event on the pods of a plugin.
struct HintRule {
  std::string_view plugin;
  std::string_view incoming;  // its label
  std::string_view name;      // of the registered event
  bool (*can_help)(const Pod& pod, const ClusterChange& change);
};
constexpr HintRule kHintRules[] = {
    {"SchedulingGates", "TargetPodUpdatePodSchedulingGatesEliminated",
     "TargetPod/UpdatePodSchedulingGatesEliminated", IsOwnUpdate},
    {"TeamQuota", "NodeUpdateNodeAnnotation", "Node/UpdateNodeAnnotation",
     IsLucky},
    {"NodeResourcesFit", "NodeAdd", "Node/Add", IsLucky},
    {"NodeResourcesFit", "NodeUpdateNodeAllocatable",
     "Node/UpdateNodeAllocatable", IsLucky},
    {"NodeResourcesFit", "AssignedPodDelete", "Pod/Delete", IsLucky},
    {"NodeResourcesFit", "TargetPodUpdatePodToleration",
     "Pod/UpdatePodToleration", IsOwnUpdate},
    {"NodePorts", "AssignedPodUpdatePodLabel", "Pod/UpdatePodLabel", IsLucky},
    {"NodePorts", "TargetPodUpdatePodLabel", "Pod/UpdatePodLabel", IsLucky},
    {"NodePorts", "NodeUpdateNodeTaint", "Node/UpdateNodeTaint", IsLucky},
};

ClusterEventWithHint EventWithHint(EventResource resource, ActionType action,
                                   bool (*can_help)(const Pod&,
                                                    const ClusterChange&)) {
  return {{resource, action},
          [can_help](const Pod& pod, const ClusterChange& change) {
            return QueueIf(can_help(pod, change));
          }};
}

bool IsClosed(const Pod& pod, const ClosedTeams& closed) {
  return closed.at(std::stoi(pod.metadata.uid) % closed.size());
}

class TeamQuota final : public PreEnqueuePlugin {
 public:
  explicit TeamQuota(const ClosedTeams& closed) : closed_(closed) {}

  std::string_view Name() const override { return "TeamQuota"; }
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    return {EventWithHint(EventResource::kNode, action::kUpdateNodeAnnotation,
                          IsLucky)};
  }
  Status PreEnqueue(const Pod& pod) const override {
    return IsClosed(pod, closed_) ? Code::kUnschedulable : Code::kSuccess;
  }

 private:
  const ClosedTeams& closed_;
};

std::unique_ptr<Plugin> NewFakeFilter(
    std::string_view name, std::vector<ClusterEventWithHint> events) {
  return std::make_unique<FakeFilter>(name, std::move(events));
}

template <class Object>
EventObject RandomVersion(std::mt19937& random) {
  auto object = std::make_shared<Object>();
  object->metadata.resource_version = std::to_string(1 + random() % 9);
  return std::shared_ptr<const Object>(std::move(object));
}

}  // namespace

Framework ModelFramework(const ClosedTeams& closed) {
  constexpr EventResource kPod = EventResource::kPod;
  constexpr EventResource kNode = EventResource::kNode;
  Framework framework;
  framework.Add(std::make_unique<PrioritySort>());
  framework.Add(std::make_unique<SchedulingGates>());
  framework.Add(std::make_unique<TeamQuota>(closed));
  framework.Add(NewFakeFilter(
      "NodeResourcesFit",
      {EventWithHint(kNode, action::kAdd | action::kUpdateNodeAllocatable,
                     IsLucky),
       EventWithHint(kPod, action::kDelete, IsLucky),
       EventWithHint(kPod, action::kUpdatePodToleration, IsOwnUpdate)}));
  framework.Add(NewFakeFilter(
      "NodePorts", {EventWithHint(kPod, action::kUpdatePodLabel, IsLucky),
                    EventWithHint(kNode, action::kUpdateNodeTaint, IsLucky)}));
  return framework;
}

std::string_view GatingPlugin(const Pod& pod, const ClosedTeams& closed) {
  if (!pod.spec.scheduling_gates.empty()) return "SchedulingGates";
  return IsClosed(pod, closed) ? "TeamQuota" : "";
}

bool CanHelp(std::string_view plugin, const Pod& pod,
             const ClusterChange& change) {
  const std::string label = change.event.Label();
  return std::any_of(std::begin(kHintRules), std::end(kHintRules),
                     [&](const HintRule& rule) {
                       return rule.plugin == plugin && rule.incoming == label &&
                              rule.can_help(pod, change);
                     });
}

std::set<std::string> EventNames(std::string_view plugin) {
  std::set<std::string> names;
  for (const HintRule& rule : kHintRules) {
    if (rule.plugin == plugin) names.emplace(rule.name);
  }
  return names;
}

ClusterChange RandomChange(std::mt19937& random) {
  constexpr ClusterEvent kEvents[] = {
      {EventResource::kNode, action::kAdd},
      {EventResource::kNode, action::kDelete},
      {EventResource::kNode, action::kUpdateNodeAllocatable},
      {EventResource::kNode, action::kUpdateNodeLabel},
      {EventResource::kNode, action::kUpdateNodeTaint},
      {EventResource::kNode, action::kUpdateNodeAnnotation},
      {EventResource::kAssignedPod, action::kAdd},
      {EventResource::kAssignedPod, action::kDelete},
      {EventResource::kAssignedPod, action::kUpdatePodLabel},
      {EventResource::kAssignedPod, action::kUpdate}};
  ClusterChange change{kEvents[random() % std::size(kEvents)]};
  const bool is_node = change.event.resource == EventResource::kNode;
  const auto object = [&] {
    return is_node ? RandomVersion<Node>(random) : RandomVersion<Pod>(random);
  };
  if (change.event.action_type != action::kAdd) change.old_object = object();
  if (change.event.action_type != action::kDelete) change.new_object = object();
  return change;
}

std::vector<ClusterEvent> ChangeRandomly(Pod& pod, std::mt19937& random) {
  const std::string& version = pod.metadata.resource_version;
  const auto in_one_of = [&](unsigned times) { return random() % times == 0; };
  std::vector<ClusterEvent> events;
  const auto add = [&](ActionType action) {
    events.push_back({EventResource::kTargetPod, action});
  };
  if (in_one_of(8)) pod.spec.node_name = "node-1";
  if (in_one_of(8)) pod.spec.priority = pod.spec.priority.value_or(0) % 3 + 1;
  if (in_one_of(3)) pod.status.message = version;
  if (in_one_of(5)) {
    pod.metadata.labels["version"] = version;
    add(action::kUpdatePodLabel);
  }
  auto& gates = pod.spec.scheduling_gates;
  if (!gates.empty() && in_one_of(2)) {
    gates.pop_back();
    if (gates.empty()) add(action::kUpdatePodSchedulingGatesEliminated);
  }
  if (in_one_of(5)) {
    pod.spec.tolerations.push_back({.operation = "Exists"});
    add(action::kUpdatePodToleration);
  }
  if (events.empty()) add(action::kUpdate);
  return events;
}

}  // namespace minisched
