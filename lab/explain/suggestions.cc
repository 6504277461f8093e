#include "lab/explain/suggestions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "lab/apiserver/object.h"
#include "lab/explain/causes.h"
#include "lab/explain/daemon_sets.h"
#include "lab/explain/new_domains.h"
#include "lab/explain/node_changes.h"
#include "lab/explain/pod_changes.h"
#include "lab/explain/requests.h"
#include "lab/explain/rule_changes.h"
#include "lab/explain/typing_errors.h"
#include "lab/explain/volume_changes.h"

namespace minisched::explain {
namespace {

using apiserver::Get;
using apiserver::Json;

// The most changes of one sort, such as labels of different nodes.
constexpr int kMaxOfASort = 2;

// The most pairs of changes for one node.
constexpr std::size_t kMaxPairsOfANode = 3;

// The search for pairs ends when there are so many.
constexpr std::size_t kEnoughPairs = 12;

// A rejected node, and what keeps the pod from it.
struct Candidate {
  const NodeState* state;
  std::set<std::string> plugins;
  std::vector<Taint> taints;
  std::vector<Shortage> shortages;
  int excess = 0;  // by how much the domains' skews are too high

  const Node& node() const { return state->node; }
  const std::string& name() const { return node().metadata.name; }
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

bool IsRule(const std::string& plugin) {
  return plugin == "InterPodAffinity" || plugin == "PodTopologySpread";
}

// Returns the pod that a step creates in place of the old one, or null.
Json CreatedPod(const Change& change) {
  const Json step = Json::parse(change.step);
  return step.is_array() ? Get(step[1], "create") : Json();
}

// Returns the change with both steps. `second` was made for the pod after
// `first`, so if both replace the pod, its steps contain those of `first`.
Change Both(const Change& first, const Change& second) {
  const bool replaces = !CreatedPod(second).is_null();
  Json steps = Json::array();
  const auto append = [&](const Change& change) {
    const Json step = Json::parse(change.step);
    if (step.is_array()) {
      steps.insert(steps.end(), step.begin(), step.end());
    } else {
      steps.push_back(step);
    }
  };
  // What a patch has changed would be lost when the pod is replaced.
  append(replaces ? second : first);
  if (CreatedPod(first).is_null()) {
    append(replaces ? first : second);
  } else if (!replaces) {
    append(second);
  }
  return {.text = first.text + ", and " + second.text,
          .step = apiserver::Dump(steps),
          .changes = 2};
}

// Finds the changes for ChangesFor().
class ChangeFinder {
 public:
  ChangeFinder(Trial& trial, const NodeStates& nodes, const Rules& rules,
               const std::stop_token& stop)
      : pod_(trial.pod()),
        pod_json_(Json::parse(trial.client().Send(
            {.method = "GET",
             .path = Pod::kResource.Path(pod_.metadata.namespace_name,
                                         pod_.metadata.name)},
            stop))),
        nodes_(nodes),
        rules_(rules) {}

  Candidates Find(const Answer& answer) {
    const auto nodes = RejectedNodes(answer);
    Add("claim", WithSimilarClaims(pod_json_, rules_.volumes));
    Add("claim", WithBoundClaims(pod_, rules_.volumes));
    for (const Candidate& node : nodes) {
      if (node.plugins != std::set<std::string>{"NodeAffinity"}) continue;
      Add("typing error", WithoutTypingErrors(pod_json_, node.node()));
    }
    for (const Candidate& node : nodes) {
      // For rules about other pods, a new node is a better suggestion than
      // fewer rules.
      if (IsRule(*node.plugins.begin())) AddNewNode(node);
      if (node.plugins.size() == 1) AddChanges(node, *node.plugins.begin());
      AddNewNode(node);
    }
    Candidates found{.changes = TakeChanges()};
    for (const Candidate& node : nodes) {
      if (pairs_.size() >= kEnoughPairs) break;
      if (node.plugins.size() == 2) AddPairs(node);
    }
    found.pairs = std::move(pairs_);
    return found;
  }

 private:
  // Returns the nodes, the nearest ones first.
  std::vector<Candidate> RejectedNodes(const Answer& answer) const {
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
      if (rules_.spread) {
        for (const auto& each : rules_.spread->ViolationsOf(state.node)) {
          node.excess += std::max(0, each.skew - each.max_skew);
        }
      }
      // Uncordoning the node also removes its taint.
      if (node.plugins.contains("NodeUnschedulable") &&
          node.taints.size() == 1 && node.taints[0].key == kCordonTaint) {
        node.plugins.erase("TaintToleration");
      }
      all.push_back(std::move(node));
    }
    std::ranges::stable_sort(all, {}, [](const Candidate& node) {
      return std::tuple(node.plugins.size(), node.Distance(), node.excess);
    });
    return all;
  }

  // Adds changes after which the plugin may accept the node.
  void AddChanges(const Candidate& node, const std::string& plugin) {
    if (plugin == "NodeUnschedulable") {
      Add("uncordon", node.name() + " is uncordoned",
          {{"uncordon", node.name()}});
    } else if (plugin == "TaintToleration") {
      AddTaintChanges(node);
    } else if (plugin == "NodeResourcesFit") {
      AddLowerRequests(node);
    } else if (plugin == "NodeAffinity") {
      if (counts_["typing error"] == 0) AddLabels(node);
      Add("selector", WithoutAffinity(pod_json_, node.node()));
    } else if (plugin == "NodePorts") {
      AddPortDeletion(node);
    } else if (plugin == "InterPodAffinity" && rules_.pods) {
      Add(PodRuleChanges(pod_json_, *rules_.pods, node.node()));
    } else if (plugin == "PodTopologySpread" && rules_.spread) {
      Add(SpreadChanges(pod_json_, *rules_.spread, node.node()));
    } else if (plugin == "VolumeRestrictions") {
      Add("volume user", WithoutVolumeUser(node.node(), rules_.volumes));
    }
  }

  // Returns the changes that were added, and forgets them.
  std::vector<Change> TakeChanges() {
    counts_.clear();
    texts_.clear();
    return std::exchange(changes_, {});
  }

  // Adds pairs of changes, one for each of the two plugins that reject the
  // node.
  void AddPairs(const Candidate& node) {
    std::size_t added = 0;
    const auto add = [&](const Change& first, const Change& second) {
      if (added == kMaxPairsOfANode) return;
      Change both = Both(first, second);
      const auto same = std::ranges::find(pairs_, both.text, &Change::text);
      if (same != pairs_.end()) return;
      pairs_.push_back(std::move(both));
      ++added;
    };
    for (const std::string& plugin : node.plugins) {
      AddNewNode(node, plugin);
      for (const Change& first : TakeChanges()) {
        AddChanges(node, plugin);
        for (const Change& second : TakeChanges()) {
          if (second.text.starts_with("the pod ")) add(first, second);
        }
      }
    }
    const Json original = pod_json_;
    AddChanges(node, *node.plugins.begin());
    for (const Change& first : TakeChanges()) {
      if (const Json pod = CreatedPod(first); !pod.is_null()) pod_json_ = pod;
      AddChanges(node, *node.plugins.rbegin());
      for (const Change& second : TakeChanges()) add(first, second);
      pod_json_ = original;
    }
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
  void Add(const std::vector<SortedChange>& changes) {
    for (const auto& [sort, change] : changes) Add(sort, change);
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

  // One more node may help if only its pods or its present state keep the pod
  // from this node. `met` is a plugin that the other change of a pair
  // satisfies.
  void AddNewNode(const Candidate& node, const std::string& met = "") {
    if (counts_["new node"] > 0 && counts_["new domain"] > 0) return;
    std::set<std::string> others = node.plugins;
    others.erase(met);
    for (const char* plugin :
         {"NodeResourcesFit", "NodePorts", "NodeUnschedulable"}) {
      others.erase(plugin);
    }
    if (std::ranges::all_of(node.taints, IsOfState)) {
      others.erase("TaintToleration");
    }
    const auto keys = KeysOfNewDomains(rules_, node.node());
    if (keys) {
      others.erase("InterPodAffinity");
      others.erase("PodTopologySpread");
    }
    const auto labels = rules_.volumes.LabelsOfNewNode(node.node());
    if (labels) {
      others.erase("VolumeBinding");
      others.erase("VolumeZone");
    }
    if (!others.empty()) return;
    for (const auto& [resource, request, free] : node.shortages) {
      if (request > AmountOf(node.state->allocatable, resource)) return;
    }
    const Change change = OneMoreNodeInNewDomains(
        node.node(), nodes_, keys.value_or(std::set<std::string>()),
        labels.value_or(Labels()));
    const bool is_new_domain = change.text.find(", with ") != std::string::npos;
    const std::string sort = is_new_domain ? "new domain" : "new node";
    if (counts_[sort] == 0) Add(sort, change);
  }

  static Json PatchNode(const Candidate& node, Json patch) {
    return {{"patch", {{"node", node.name()}, {"merge", std::move(patch)}}}};
  }

  const Pod& pod_;
  Json pod_json_;
  const NodeStates& nodes_;
  const Rules& rules_;
  std::map<std::string, int> counts_;
  std::set<std::string> texts_;
  std::vector<Change> changes_;
  std::vector<Change> pairs_;
};

}  // namespace

Candidates ChangesFor(Trial& trial, const NodeStates& nodes, const Rules& rules,
                      const Answer& answer, const std::stop_token& stop) {
  return ChangeFinder(trial, nodes, rules, stop).Find(answer);
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
