#include "lab/explain/daemon_answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "lab/apiserver/object.h"
#include "lab/explain/causes.h"
#include "lab/explain/daemon_sets.h"
#include "minisched/api/json.h"

namespace minisched::explain {
namespace {

using apiserver::Json;

constexpr std::size_t kMaxRunning = 5;
constexpr std::chrono::seconds kMaxStart{60};
constexpr std::chrono::milliseconds kMaxTimeOfANode{200};

// The pods of a DaemonSet, and their nodes.
struct CreatedPods {
  Pods pods;
  std::vector<const NodeState*> nodes;
};

// Replaces the trial's pod by one for each of the nodes, as the controller
// creates them.
CreatedPods CreatePods(Trial& trial, std::vector<const NodeState*> nodes,
                       const std::stop_token& stop) {
  const ObjectMeta& metadata = trial.pod().metadata;
  const std::string path =
      Pod::kResource.Path(metadata.namespace_name, metadata.name);
  const Json pod =
      Json::parse(trial.client().Send({.method = "GET", .path = path}, stop));
  trial.client().Send({.method = "DELETE", .path = path}, stop);
  CreatedPods created{.nodes = std::move(nodes)};
  for (const NodeState* node : created.nodes) {
    const std::string& name = node->node.metadata.name;
    Json spec = pod["spec"];
    // The server sets these fields from the priority class.
    spec.erase("priority");
    spec.erase("preemptionPolicy");
    PinToNode(spec, name);
    const Json body = {
        {"apiVersion", "v1"},
        {"kind", "Pod"},
        {"metadata",
         {{"name", metadata.name + "-" + name},
          {"labels", apiserver::Get(pod, "metadata", "labels")}}},
        {"spec", spec}};
    created.pods.push_back(
        std::make_shared<const Pod>(FromJson<Pod>(trial.client().Send(
            {.method = "POST",
             .path = Pod::kResource.Path(metadata.namespace_name),
             .body = apiserver::Dump(body)},
            stop))));
  }
  return created;
}

// Returns why the controller creates no pod for the node, as rejections by the
// plugins that check the same.
RejectedNode NotSelected(const Pod& pod, const NodeState& node) {
  RejectedNode rejected{.node = node.node.metadata.name};
  const std::string& own = pod.spec.node_name;
  const auto add = [&](const char* plugin,
                       const std::vector<std::string>& causes) {
    rejected.rejections.push_back(
        {.plugin = plugin, .reasons = causes, .causes = causes});
  };
  if (!own.empty() && own != rejected.node) {
    add("NodeName", {"spec.nodeName is " + own});
  }
  if (!UnmatchedLabels(pod, node.node).empty() ||
      !MatchesRequiredTerms(pod, node.node)) {
    add("NodeAffinity", CausesOf(pod, node, "NodeAffinity", {}));
  }
  if (!UntoleratedTaints(pod, node.node).empty()) {
    add("TaintToleration", CausesOf(pod, node, "TaintToleration", {}));
  }
  return rejected;
}

// Collects the answers for all nodes.
class Collector {
 public:
  Collector(Trial& trial, const NodeStates& nodes, const std::stop_token& stop)
      : trial_(trial),
        nodes_(nodes),
        rules_(trial.pod(), nodes, ReadNamespaces(trial.copy().server()),
               ReadVolumes(trial.copy().server(), trial.pod())),
        stop_(stop) {}

  void AddOutcome(const Outcome& outcome, const Pod& pod,
                  const std::string& node) {
    if (!outcome.node.empty()) return AddRunning(node);
    Answer one;
    AddPodRejections(outcome, trial_, nodes_, rules_, one, stop_);
    AddRejected(outcome, pod, nodes_, rules_, one);
    RejectedNode rejected{.node = node};
    for (RejectedNode& each : one.rejected) {
      if (each.node == node) rejected = std::move(each);
    }
    if (outcome.nominated == node) {
      const std::string text = "the scheduler evicts pods of lower priority";
      rejected.rejections.push_back({"DefaultPreemption", {text}, {text}});
      running_.push_back(node);
    } else if (rejected.rejections.empty() && one.pod_rejections.empty()) {
      rejected.rejections.push_back(
          {"", {outcome.sentence}, {outcome.sentence}});
    }
    if (!rejected.rejections.empty()) {
      answer_.rejected.push_back(std::move(rejected));
    }
    answer_.pod_rejections = std::move(one.pod_rejections);
  }

  void AddNotSelected(RejectedNode node) {
    answer_.rejected.push_back(std::move(node));
  }

  // `selected` is the number of nodes for which there is a pod.
  Answer Finish(const std::string& pod, std::size_t selected) {
    const std::size_t running = running_.size();
    answer_.is_daemon_set = true;
    answer_.all_nodes = static_cast<int>(nodes_.size());
    answer_.feasible_nodes = static_cast<int>(running);
    answer_.state = running > 0 && running == selected ? State::kFits
                                                       : State::kUnschedulable;
    std::vector<std::string> names = running_;
    if (running > kMaxRunning) {
      names.resize(kMaxRunning - 1);
      names.push_back(fmt::format("… ({} nodes)", running));
    }
    answer_.sentence = fmt::format(
        "{} runs on {} of {} nodes{}{}", pod, running, nodes_.size(),
        running > 0 ? ": " : "", fmt::join(names, ", "));
    return std::move(answer_);
  }

 private:
  void AddRunning(const std::string& node) {
    running_.push_back(node);
    answer_.scores.push_back({.node = node});
  }

  Trial& trial_;
  const NodeStates& nodes_;
  const Rules rules_;
  const std::stop_token& stop_;
  std::vector<std::string> running_;
  Answer answer_;
};

}  // namespace

Answer ExplainDaemonSet(Trial& trial, const std::stop_token& stop) {
  const NodeStates nodes = ReadNodes(trial.copy().server());
  const Pod& pod = trial.pod();
  Collector collector(trial, nodes, stop);
  std::vector<const NodeState*> selected;
  for (const auto& [name, node] : nodes) {
    if (ShouldRun(pod, node.node)) {
      selected.push_back(&node);
    } else {
      collector.AddNotSelected(NotSelected(pod, node));
    }
  }
  const std::string name = ObjectName(pod.metadata);
  if (selected.empty()) return collector.Finish(name, 0);
  const auto [pods, their_nodes] = CreatePods(trial, selected, stop);
  const auto time = kMaxStart + kMaxTimeOfANode * pods.size();
  const auto outcomes = trial.Run(pods, RealClock().Now() + time, stop);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    collector.AddOutcome(outcomes[i], *pods[i],
                         their_nodes[i]->node.metadata.name);
  }
  return collector.Finish(name, selected.size());
}

}  // namespace minisched::explain
