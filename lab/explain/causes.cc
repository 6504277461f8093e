#include "lab/explain/causes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <utility>

#include "lab/explain/amounts.h"
#include "lab/explain/requests.h"
#include "minisched/api/host_ports.h"
#include "minisched/api/node_affinity.h"
#include "minisched/api/pod_requests.h"
#include "minisched/api/taints.h"

namespace minisched::explain {
namespace {

using Causes = std::vector<std::string>;

bool IsInteger(const std::string& text) {
  std::int64_t number = 0;
  const std::size_t plus = text.starts_with('+') ? 1 : 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data() + plus, end, number);
  return result.ec == std::errc() && result.ptr == end;
}

Causes ResourceCauses(const Pod& pod, const NodeState& node) {
  Causes causes;
  if (node.IsFull()) {
    causes.push_back(fmt::format("pods: the node has {}, and takes {}",
                                 node.pods,
                                 node.allocatable.allowed_pod_number));
  }
  for (const Shortage& shortage : ShortagesOf(pod, node)) {
    const auto show = [&](Amount amount) {
      return ShowAmount(shortage.resource, amount);
    };
    std::string request = show(shortage.request);
    std::string free = show(std::max<Amount>(shortage.free, 0));
    if (request == free) {  // the same only because both are rounded
      request = ToQuantity(shortage.resource, shortage.request);
      free = ToQuantity(shortage.resource, shortage.free);
    }
    const std::string origin = OriginOf(pod, shortage.resource);
    std::string cause =
        fmt::format("{}: requests {}{}, free {} of {}", shortage.resource,
                    request, origin.empty() ? "" : " (" + origin + ")", free,
                    show(AmountOf(node.allocatable, shortage.resource)));
    const auto taken = AmountOf(node.requested, shortage.resource);
    if (taken > 0) {
      cause += fmt::format(" ({} {} {})", node.pods,
                           node.pods == 1 ? "pod requests" : "pods request",
                           show(taken));
    }
    causes.push_back(std::move(cause));
    if (shortage.resource == "cpu") {
      const std::string hint = MilliHint(pod, node);
      if (!hint.empty()) causes.push_back(hint);
    }
  }
  return causes;
}

Causes PortCauses(const Pod& pod, const NodeState& node) {
  Causes causes;
  for (const PortHolder& holder : PortHolders(pod, node)) {
    causes.push_back(fmt::format("port {}/{} is in use by {}", holder.port.port,
                                 holder.port.protocol, ObjectName(holder.pod)));
  }
  return causes;
}

// Returns "the node has disk=hdd" or "the node has no label disk".
std::string ShowLabel(const Node& node, const std::string& key) {
  const auto label = node.metadata.labels.find(key);
  return label == node.metadata.labels.end()
             ? "the node has no label " + key
             : fmt::format("the node has {}={}", key, label->second);
}

// Returns what is wrong with a requirement that no node can meet, because Gt
// and Lt compare integers. Returns "" if nothing is wrong.
std::string NotAnInteger(const NodeSelectorRequirement& requirement) {
  const auto& [key, op, values] = requirement;
  const bool compares = op == "Gt" || op == "Lt";
  if (!compares || (values.size() == 1 && IsInteger(values[0]))) return "";
  return fmt::format("requires {}, which no node meets: {} needs one integer",
                     ToString(requirement), op);
}

// Returns why a node doesn't meet the requirement.
std::string CauseOf(const NodeSelectorRequirement& unmet, const Node& node) {
  std::string wrong = NotAnInteger(unmet);
  if (!wrong.empty()) return wrong;
  if (unmet.key == "metadata.name") {
    return fmt::format("requires {}", ToString(unmet));
  }
  const auto label = node.metadata.labels.find(unmet.key);
  const bool compares = unmet.op == "Gt" || unmet.op == "Lt";
  const bool is_text = compares && label != node.metadata.labels.end() &&
                       !IsInteger(label->second);
  return fmt::format("requires {}, {}{}", ToString(unmet),
                     ShowLabel(node, unmet.key),
                     is_text ? ", which is no integer" : "");
}

Causes AffinityCauses(const Pod& pod, const NodeState& node) {
  Causes causes;
  for (const auto& [key, value] : UnmatchedLabels(pod, node.node)) {
    causes.push_back(fmt::format("selects {}={}, {}", key, value,
                                 ShowLabel(node.node, key)));
  }
  const auto& required = pod.spec.affinity.node_affinity.required;
  if (!required || !causes.empty()) return causes;
  const auto& terms = required->node_selector_terms;
  if (terms.size() == 1) {
    for (const auto& unmet : UnmetRequirements(terms[0], node.node)) {
      causes.push_back(CauseOf(unmet, node.node));
    }
  }
  if (causes.empty()) {
    causes.push_back(fmt::format(
        "none of the {} required terms matches the node", terms.size()));
    for (const NodeSelectorTerm& term : terms) {
      for (const auto& one : term.match_expressions) {
        if (!NotAnInteger(one).empty()) causes.push_back(NotAnInteger(one));
      }
    }
  }
  return causes;
}

// Returns a cause for each taint. Tolerations with Gt and Lt don't count: the
// feature gate for them is off by default.
Causes TaintCauses(const Pod& pod, const NodeState& node) {
  Causes causes;
  for (const Taint& taint : UntoleratedTaints(pod, node.node)) {
    std::string cause = ToTexts({taint})[0];
    for (const Toleration& one : pod.spec.tolerations) {
      if (one.key != taint.key ||
          (one.operation != "Gt" && one.operation != "Lt")) {
        continue;
      }
      cause += fmt::format(
          " (the toleration {} {} {} doesn't count: {})", one.key,
          one.operation, one.value,
          IsInteger(one.value)
              ? "it needs the feature gate TaintTolerationComparisonOperators"
              : one.operation + " needs an integer");
    }
    causes.push_back(std::move(cause));
  }
  return causes;
}

const std::map<std::string, Causes (*)(const Pod&, const NodeState&)> kPlugins =
    {{"NodeResourcesFit", ResourceCauses},
     {"NodePorts", PortCauses},
     {"NodeAffinity", AffinityCauses},
     {"TaintToleration", TaintCauses},
     {"NodeUnschedulable",
      [](const Pod&, const NodeState&) { return Causes{"cordoned"}; }}};

}  // namespace

std::vector<std::string> CausesOf(const Pod& pod, const NodeState& node,
                                  const std::string& plugin,
                                  const std::vector<std::string>& reasons) {
  const auto causes_of = kPlugins.find(plugin);
  if (causes_of == kPlugins.end()) return reasons;
  const Causes causes = causes_of->second(pod, node);
  return causes.empty() ? reasons : causes;
}

std::vector<Shortage> ShortagesOf(const Pod& pod, const NodeState& node) {
  const Resource request(PodRequests(pod));
  std::vector<std::string> resources = {"cpu", "memory", "ephemeral-storage"};
  for (const auto& [name, amount] : request.scalar_resources) {
    resources.push_back(name);
  }
  std::vector<Shortage> shortages;
  for (const std::string& resource : resources) {
    const Shortage shortage{resource, AmountOf(request, resource),
                            node.Free(resource)};
    if (shortage.request > 0 && shortage.request > shortage.free) {
      shortages.push_back(shortage);
    }
  }
  return shortages;
}

bool KeepsAway(const Taint& taint, const Pod& pod) {
  return taint.effect != "PreferNoSchedule" &&
         !TolerationsTolerateTaint(pod.spec.tolerations, taint);
}

std::vector<Taint> UntoleratedTaints(const Pod& pod, const Node& node) {
  std::vector<Taint> taints = node.spec.taints;
  std::erase_if(taints, [&](const auto& one) { return !KeepsAway(one, pod); });
  return taints;
}

std::vector<std::string> ToTexts(const std::vector<Taint>& taints) {
  std::vector<std::string> texts;
  for (const auto& [key, value, effect, time_added] : taints) {
    texts.push_back(
        fmt::format("{}{}{}:{}", key, value.empty() ? "" : "=", value, effect));
  }
  return texts;
}

Labels UnmatchedLabels(const Pod& pod, const Node& node) {
  Labels unmatched;
  for (const auto& [key, value] : pod.spec.node_selector) {
    const auto label = node.metadata.labels.find(key);
    if (label == node.metadata.labels.end() || label->second != value) {
      unmatched[key] = value;
    }
  }
  return unmatched;
}

bool MatchesRequiredTerms(const Pod& pod, const Node& node) {
  Pod without_selector;
  without_selector.spec.affinity = pod.spec.affinity;
  return RequiredNodeAffinity(without_selector).Matches(node);
}

std::vector<NodeSelectorRequirement> UnmetRequirements(
    const NodeSelectorTerm& term, const Node& node) {
  std::vector<NodeSelectorRequirement> unmet;
  for (const bool of_fields : {false, true}) {
    for (const auto& one :
         of_fields ? term.match_fields : term.match_expressions) {
      NodeSelectorTerm alone;
      (of_fields ? alone.match_fields : alone.match_expressions) = {one};
      std::vector<std::string> errors;
      const auto matcher = NodeTermMatcher::Parse(alone, "", errors);
      if (!matcher || !matcher->Matches(node)) unmet.push_back(one);
    }
  }
  return unmet;
}

std::string ToString(const NodeSelectorRequirement& requirement) {
  const auto& [key, op, values] = requirement;
  return values.empty()
             ? fmt::format("{} {}", key, op)
             : fmt::format("{} {} ({})", key, op, fmt::join(values, ", "));
}

std::vector<PortHolder> PortHolders(const Pod& pod, const NodeState& node) {
  HostPortInfo requested;
  for (const HostPort& port : GetHostPorts(pod)) requested.Add(port);
  std::vector<PortHolder> holders = node.ports;
  std::erase_if(holders, [&](const PortHolder& holder) {
    return !requested.CheckConflict(holder.port);
  });
  return holders;
}

}  // namespace minisched::explain
