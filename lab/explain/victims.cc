#include "lab/explain/victims.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "minisched/api/disruption_budgets.h"
#include "minisched/api/pod_disruption_budget.h"
#include "minisched/api/pod_preemption.h"
#include "minisched/client/errors.h"

namespace minisched::explain {
namespace {

using Json = nlohmann::json;
using PlacedPods = std::vector<const PlacedPod*>;

constexpr std::chrono::milliseconds kVictimsPoll{5};
constexpr std::chrono::seconds kMaxEviction{10};
// After this time, pods that were already being deleted may be enough.
constexpr std::chrono::seconds kMinEviction{1};

bool IsEnding(const PlacedPod* pod) {
  return pod->metadata.deletion_timestamp.has_value();
}

// Returns the pods of lower priority, the most important ones first, as
// kube-scheduler sorts them.
PlacedPods LessImportant(const Pod& pod, const NodeState& node) {
  PlacedPods pods;
  for (const PlacedPod& other : node.placed) {
    if (other.priority < PodPriority(pod)) pods.push_back(&other);
  }
  std::ranges::stable_sort(pods, {}, [](const PlacedPod* other) {
    return std::tuple(-std::int64_t{other->priority}, other->start);
  });
  return pods;
}

// Returns the uids of the node's pods that are not being deleted.
std::set<std::string> Staying(Trial& trial, const NodeState& node,
                              const std::stop_token& stop) {
  std::set<std::string> uids;
  const auto list = trial.client().List<Pod>(
      {.field_selector = "spec.nodeName=" + node.node.metadata.name}, stop);
  for (const auto& pod : list.items) {
    if (!pod->metadata.deletion_timestamp) uids.insert(pod->metadata.uid);
  }
  return uids;
}

// Returns true if the pod fits a node of a copy without these pods.
bool FitsWithout(const PlacedPods& pods, const Experiment& experiment,
                 const std::stop_token& stop) {
  Json steps = Json::array();
  for (const PlacedPod* pod : pods) {
    steps.push_back({{"delete",
                      {{"pod", pod->metadata.name},
                       {"namespace", pod->metadata.namespace_name},
                       {"grace", 0}}}});
  }
  Trial trial(experiment, scenario::ParseSteps(steps.dump(), "evictions"),
              stop);
  return !trial.Run(RealClock().Now() + kMaxEviction, stop).node.empty();
}

// Adds the budgets that don't allow the evictions. Follows
// FilterVictimsWithPDBViolation of kubernetes' pkg/scheduler.
void AddBudgets(Trial& trial, const PlacedPods& less_important,
                std::vector<Victim>& victims, const std::stop_token& stop) {
  const auto all = trial.client().List<PodDisruptionBudget>({}, stop);
  for (const auto& budget : all.items) {
    const std::string& of_namespace = budget->metadata.namespace_name;
    DisruptionBudgets alone([&](const std::string& namespace_name) {
      std::vector<std::shared_ptr<const PodDisruptionBudget>> budgets;
      if (namespace_name == of_namespace) budgets.push_back(budget);
      return budgets;
    });
    for (const PlacedPod* each : less_important) {
      Pod pod;
      pod.metadata = each->metadata;
      if (alone.Take(pod)) continue;
      const auto victim =
          std::ranges::find(victims, ObjectName(pod.metadata), &Victim::pod);
      if (victim == victims.end()) continue;
      victim->budgets.push_back(ObjectName(budget->metadata));
    }
  }
}

}  // namespace

Victims AwaitVictims(const Experiment& experiment, Trial& trial,
                     const NodeState& node, const std::stop_token& stop) {
  const PlacedPods candidates = LessImportant(trial.pod(), node);
  if (candidates.empty()) return {};
  Victims victims{.is_complete = false};
  Clock& clock = RealClock();
  const auto start = clock.Now();
  PlacedPods evicted;
  for (std::size_t tried = 0; clock.Now() < start + kMaxEviction;) {
    const auto staying = Staying(trial, node, stop);
    PlacedPods gone = candidates;
    std::erase_if(gone, [&](const PlacedPod* pod) {
      return staying.contains(pod->metadata.uid);
    });
    evicted = gone;
    std::erase_if(evicted, IsEnding);
    const bool has_begun =
        !evicted.empty() || clock.Now() > start + kMinEviction;
    if (has_begun && gone.size() > tried) {
      tried = gone.size();
      victims.is_complete = FitsWithout(gone, experiment, stop);
      if (victims.is_complete) break;
    }
    if (!clock.SleepFor(kVictimsPoll, stop)) throw Cancelled();
  }
  for (const PlacedPod* pod : evicted) {
    victims.pods.push_back({ObjectName(pod->metadata), pod->priority, {}});
  }
  AddBudgets(trial, candidates, victims.pods, stop);
  return victims;
}

}  // namespace minisched::explain
