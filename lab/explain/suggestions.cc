#include "lab/explain/suggestions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "lab/apiserver/object.h"
#include "lab/explain/causes.h"
#include "lab/explain/daemon_sets.h"
#include "lab/explain/node_changes.h"
#include "lab/explain/pod_changes.h"
#include "lab/explain/requests.h"
#include "lab/explain/typing_errors.h"

namespace minisched::explain {
namespace {

using apiserver::Get;
using apiserver::Json;

// The most changes of one sort, such as labels of different nodes.
constexpr int kMaxOfASort = 2;

// A rejected node, and what keeps the pod from it.
struct Candidate {
  const NodeState* state;
  std::set<std::string> plugins;
  std::vector<Taint> taints;
  std::vector<Shortage> shortages;

  const Node& node() const { return state->node; }
  const std::string& name() const { return node().metadata.name; }
  bool IsOnly(const char* plugin) const {
    return plugins == std::set<std::string>{plugin};
  }
  // Returns the largest shortage, relative to its request.
  double Distance() const {
    double distance = 0;
    for (const auto& [resource, request, free] : shortages) {
      distance = std::max(distance, 1 - static_cast<double>(free) /
                                            static_cast<double>(request));
    }
    return distance;
  }
};

// Labels with these prefixes say where and what a node is. Nobody adds them to
// help a pod.
bool IsOfSystem(const std::string& key) {
  return key.starts_with("kubernetes.io/") ||
         key.starts_with("node.kubernetes.io/") ||
         key.starts_with("topology.kubernetes.io/");
}

// Returns the label that meets the requirement, or nullopt if there is none.
// Null removes the label.
std::optional<Json> LabelFor(const NodeSelectorRequirement& requirement) {
  if (requirement.op == "In" && !requirement.values.empty()) {
    return requirement.values[0];
  }
  if (requirement.op == "Exists") return "true";
  if (requirement.op == "DoesNotExist" || requirement.op == "NotIn") {
    return Json();
  }
  return std::nullopt;
}

// Finds the changes for ChangesFor().
class ChangeFinder {
 public:
  ChangeFinder(Trial& trial, const NodeStates& nodes,
               const std::stop_token& stop)
      : pod_(trial.pod()),
        pod_json_(Json::parse(trial.client().Send(
            {.method = "GET",
             .path = Pod::kResource.Path(pod_.metadata.namespace_name,
                                         pod_.metadata.name)},
            stop))),
        nodes_(nodes) {}

  std::vector<Change> Find(const Answer& answer) {
    const std::vector<Candidate> candidates = Candidates(answer);
    for (const Candidate& node : candidates) {
      if (!node.IsOnly("NodeAffinity")) continue;
      Add("typing error", WithoutTypingErrors(pod_json_, node.node()));
    }
    for (const Candidate& node : candidates) {
      if (node.IsOnly("NodeUnschedulable")) {
        Add("uncordon", node.name() + " is uncordoned",
            {{"uncordon", node.name()}});
      } else if (node.IsOnly("TaintToleration")) {
        AddTaintChanges(node);
      } else if (node.IsOnly("NodeResourcesFit")) {
        AddLowerRequests(node);
      } else if (node.IsOnly("NodeAffinity")) {
        if (counts_["typing error"] == 0) AddLabels(node);
        Add("selector", WithoutAffinity(pod_json_, node.node()));
      } else if (node.IsOnly("NodePorts")) {
        AddPortDeletion(node);
      }
      AddNewNode(node);
    }
    return std::move(changes_);
  }

 private:
  // Returns the nodes, the nearest ones first.
  std::vector<Candidate> Candidates(const Answer& answer) const {
    std::vector<Candidate> all;
    for (const RejectedNode& rejected : answer.rejected) {
      const auto found = nodes_.find(rejected.node);
      if (found == nodes_.end()) continue;
      const NodeState& state = found->second;
      Candidate node{.state = &state,
                     .taints = UntoleratedTaints(pod_, state.node),
                     .shortages = ShortagesOf(pod_, state)};
      for (const Rejection& one : rejected.rejections) {
        node.plugins.insert(one.plugin);
      }
      // Uncordoning the node also removes its taint.
      if (node.plugins.contains("NodeUnschedulable") &&
          node.taints.size() == 1 && node.taints[0].key == kCordonTaint) {
        node.plugins.erase("TaintToleration");
      }
      all.push_back(std::move(node));
    }
    std::ranges::stable_sort(all, {}, [](const Candidate& node) {
      return std::pair(node.plugins.size(), node.Distance());
    });
    return all;
  }

  // Adds a change, unless there are enough of its sort, or it is known.
  void Add(const std::string& sort, std::optional<Change> change) {
    if (!change || counts_[sort] == kMaxOfASort ||
        !texts_.insert(change->text).second) {
      return;
    }
    ++counts_[sort];
    changes_.push_back(*std::move(change));
  }
  void Add(const std::string& sort, const std::string& text, const Json& step) {
    Add(sort, Change{.text = text, .step = apiserver::Dump(step)});
  }

  void AddTaintChanges(const Candidate& node) {
    if (std::ranges::none_of(node.taints, IsOfState)) {
      Add("toleration", WithTolerations(pod_json_, node.taints));
    }
    Add("taint", WithoutTaints(node.node(), node.taints));
  }

  void AddLowerRequests(const Candidate& node) {
    if (node.state->IsFull()) return;
    std::string sort = "requests";
    for (const Shortage& one : node.shortages) sort += " " + one.resource;
    // The first node is the nearest one. Requests for another node of this sort
    // would be lower.
    if (counts_[sort] > 0) return;
    Add("milli", WithMilli(pod_json_, *node.state));
    Add(sort, WithRequests(pod_json_, node.shortages));
  }

  void AddLabels(const Candidate& node) {
    Json labels = Json::object();
    for (const auto& [key, value] : UnmatchedLabels(pod_, node.node())) {
      labels[key] = value;
    }
    if (!MatchesRequiredTerms(pod_, node.node()) &&
        !MeetFirstTerm(*pod_.spec.affinity.node_affinity.required, node.node(),
                       labels)) {
      return;
    }
    std::vector<std::string> names;
    for (const auto& [key, value] : labels.items()) {
      if (IsOfSystem(key)) return;
      names.push_back(value.is_null() ? "loses the label " + key
                                      : fmt::format("gets the label {}={}", key,
                                                    value.get<std::string>()));
    }
    Add("label", fmt::format("{} {}", node.name(), fmt::join(names, " and ")),
        PatchNode(node, {{"metadata", {{"labels", labels}}}}));
  }

  // Adds the labels that make the node match a term. Returns false if no label
  // does so.
  static bool MeetFirstTerm(const NodeSelector& required, const Node& node,
                            Json& labels) {
    for (const NodeSelectorTerm& term : required.node_selector_terms) {
      Json of_term = Json::object();
      const auto unmet = UnmetRequirements(term, node);
      if (std::ranges::all_of(unmet, [&](const auto& one) {
            const auto label = LabelFor(one);
            if (label) of_term[one.key] = *label;
            return label && one.key != "metadata.name";
          })) {
        labels.update(of_term);
        return true;
      }
    }
    return false;
  }

  void AddPortDeletion(const Candidate& node) {
    const auto holders = PortHolders(pod_, *node.state);
    if (holders.empty()) return;
    const ObjectMeta& first = holders[0].pod;
    for (const PortHolder& holder : holders) {
      if (holder.pod.uid != first.uid || ComesBack(holder.pod)) return;
    }
    Add("port",
        fmt::format("the pod {}, which has port {} of {}, is deleted",
                    ObjectName(first), holders[0].port.port, node.name()),
        {{"delete",
          {{"pod", first.name},
           {"namespace", first.namespace_name},
           {"grace", 0}}}});
  }

  // One more node helps if the node would fit the pod without its pods, and
  // without its present state.
  void AddNewNode(const Candidate& node) {
    if (counts_["new node"] > 0) return;
    std::set<std::string> others = node.plugins;
    for (const char* plugin :
         {"NodeResourcesFit", "NodePorts", "NodeUnschedulable"}) {
      others.erase(plugin);
    }
    if (std::ranges::all_of(node.taints, IsOfState)) {
      others.erase("TaintToleration");
    }
    if (!others.empty()) return;
    for (const auto& [resource, request, free] : node.shortages) {
      if (request > AmountOf(node.state->allocatable, resource)) return;
    }
    Add("new node", OneMoreNode(node.node(), nodes_));
  }

  static Json PatchNode(const Candidate& node, Json patch) {
    return {{"patch", {{"node", node.name()}, {"merge", std::move(patch)}}}};
  }

  const Pod& pod_;
  const Json pod_json_;
  const NodeStates& nodes_;
  std::map<std::string, int> counts_;
  std::set<std::string> texts_;
  std::vector<Change> changes_;
};

}  // namespace

std::vector<Change> ChangesFor(Trial& trial, const NodeStates& nodes,
                               const Answer& answer,
                               const std::stop_token& stop) {
  return ChangeFinder(trial, nodes, stop).Find(answer);
}

Change GateChange(const Pod& pod) {
  const Json patch = {{"op", "remove"}, {"path", "/spec/schedulingGates"}};
  return {pod.spec.scheduling_gates.size() == 1
              ? "the gate " + pod.spec.scheduling_gates[0].name + " is removed"
              : "all gates are removed",
          apiserver::Dump({{"patch",
                            {{"pod", pod.metadata.name},
                             {"json", Json::array({patch})}}}})};
}

}  // namespace minisched::explain
