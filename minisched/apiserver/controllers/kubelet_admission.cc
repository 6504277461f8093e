#include "minisched/apiserver/controllers/kubelet_admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "minisched/api/json.h"
#include "minisched/api/labels.h"
#include "minisched/api/node.h"
#include "minisched/api/pod.h"
#include "minisched/api/taints.h"
#include "minisched/apiserver/selectors.h"

namespace minisched::apiserver {
namespace {

ResourceList ToResources(const Json& json) {
  ResourceList resources;
  for (const auto& [name, quantity] : json.items()) {
    resources[name] = Quantity::Parse(quantity.get<std::string>());
  }
  return resources;
}

ResourceList RequestsOf(const Json& container) {
  return ToResources(Get(container, "resources", "requests"));
}

void Add(ResourceList& to, const ResourceList& what) {
  for (const auto& [name, quantity] : what) to[name] += quantity;
}

bool IsSidecar(const Json& init_container) {
  return Get(init_container, "restartPolicy") == "Always";
}

void RaiseTo(ResourceList& resources, const ResourceList& at_least) {
  for (const auto& [name, quantity] : at_least) {
    resources[name] = std::max(resources[name], quantity);
  }
}

// One of "pods" included. Follows PodRequests() of k8s.io/component-helpers.
ResourceList PodRequests(const Json& spec) {
  ResourceList most;
  ResourceList running;
  // Init containers run one after the other, while the sidecars that were
  // before them do.
  for (const Json& container : Get(spec, "initContainers")) {
    ResourceList now = running;
    Add(now, RequestsOf(container));
    RaiseTo(most, now);
    if (IsSidecar(container)) running = now;
  }
  for (const Json& container : Get(spec, "containers")) {
    Add(running, RequestsOf(container));
  }
  RaiseTo(most, running);
  // What the pod says as a whole counts instead.
  for (const auto& [name, quantity] : RequestsOf(spec)) most[name] = quantity;
  Add(most, ToResources(Get(spec, "overhead")));
  most["pods"] = Quantity::FromValue(1);
  return most;
}

// Of the containers that run as long as the pod does.
std::vector<Json> HostPortsOf(const Json& pod) {
  std::vector<Json> ports;
  const auto add = [&](const Json& container) {
    for (const Json& port : Get(container, "ports")) {
      if (GetInt(port, "hostPort") != 0) ports.push_back(port);
    }
  };
  for (const Json& container : Get(pod, "spec", "containers")) add(container);
  for (const Json& container : Get(pod, "spec", "initContainers")) {
    if (IsSidecar(container)) add(container);
  }
  return ports;
}

bool Conflict(const Json& a, const Json& b) {
  const std::set<std::string> ips = {GetString(a, "hostIP"),
                                     GetString(b, "hostIP")};
  return Get(a, "hostPort") == Get(b, "hostPort") &&
         Get(a, "protocol") == Get(b, "protocol") &&
         (ips.size() == 1 || ips.contains("") || ips.contains("0.0.0.0"));
}

bool HasFreePorts(const Json& pod, const std::vector<Object>& others) {
  const std::vector<Json> wanted = HostPortsOf(pod);
  if (wanted.empty()) return true;
  return std::ranges::none_of(others, [&](const Object& other) {
    const std::vector<Json> taken = HostPortsOf(*other);
    return std::ranges::find_first_of(wanted, taken, Conflict) != wanted.end();
  });
}

std::optional<Rejection> RejectForResources(const Json& pod, const Json& node,
                                            const std::vector<Object>& others) {
  ResourceList capacity = ToResources(Get(node, "status", "allocatable"));
  ResourceList used;
  for (const Object& other : others) {
    Add(used, PodRequests(Get(*other, "spec")));
  }
  ResourceList requests = PodRequests(Get(pod, "spec"));
  // A kubelet names the first that is short, and looks at these first.
  std::vector<std::string> names = {"pods", "cpu", "memory",
                                    "ephemeral-storage"};
  for (const auto& [name, wanted] : requests) names.push_back(name);
  for (const std::string& name : names) {
    const Quantity& wanted = requests[name];
    // What a node doesn't know may be given out by something else.
    const bool extended = name.find('/') != name.npos;
    if (wanted.IsZero() || (extended && !capacity.contains(name))) continue;
    Quantity total = used[name];
    total += wanted;
    if (total <= capacity[name]) continue;
    const auto amount = [&](const Quantity& quantity) {
      return name == "cpu" ? quantity.MilliValue() : quantity.Value();
    };
    return Rejection{
        "OutOf" + name,
        fmt::format("Node didn't have enough resource: {}, requested: {}, "
                    "used: {}, capacity: {}",
                    name, amount(wanted), amount(used[name]),
                    amount(capacity[name]))};
  }
  return std::nullopt;
}

// Whether the requirements of a NodeSelectorTerm, which may be null, all hold.
bool MatchesAll(const Json& requirements, const Labels& labels) {
  return std::all_of(
      requirements.begin(), requirements.end(), [&](const Json& json) {
        return Requirement(
                   json["key"],
                   Requirement::FindOperator(GetString(json, "operator"))
                       .value(),
                   json.value("values", std::vector<std::string>()))
            .Matches(labels);
      });
}

bool MatchesNodeAffinity(const Json& spec, const Json& node) {
  const Labels labels = Get(node, "metadata").value("labels", Labels());
  const Labels fields = {{"metadata.name", NameOf(node)}};
  const Json by_labels = {{"matchLabels", Get(spec, "nodeSelector")}};
  if (!Selects(by_labels, labels)) return false;
  const Json& required = Get(spec, "affinity", "nodeAffinity",
                             "requiredDuringSchedulingIgnoredDuringExecution");
  if (required.is_null()) return true;
  const Json& terms = Get(required, "nodeSelectorTerms");
  return std::any_of(terms.begin(), terms.end(), [&](const Json& term) {
    const Json& by_label = Get(term, "matchExpressions");
    const Json& by_field = Get(term, "matchFields");
    return !(by_label.empty() && by_field.empty()) &&
           MatchesAll(by_label, labels) && MatchesAll(by_field, fields);
  });
}

// Taints of other effects are for schedulers.
bool ToleratesNoExecute(const Json& pod, const Json& node) {
  const auto tolerations = FromJson<Pod>(Dump(pod)).spec.tolerations;
  const auto taints = FromJson<Node>(Dump(node)).spec.taints;
  return std::ranges::all_of(taints, [&](const Taint& taint) {
    return taint.effect != "NoExecute" ||
           TolerationsTolerateTaint(tolerations, taint);
  });
}

}  // namespace

std::optional<Rejection> Reject(const Json& pod, const Json& node,
                                const std::vector<Object>& others) {
  if (auto no = RejectForResources(pod, node, others)) return no;
  const struct {
    bool holds;
    const char* name;
    const char* otherwise;
  } predicates[] = {
      {MatchesNodeAffinity(Get(pod, "spec"), node), "NodeAffinity",
       "node(s) didn't match Pod's node affinity/selector"},
      {HasFreePorts(pod, others), "NodePorts",
       "node(s) didn't have free ports for the requested pod ports"},
      {ToleratesNoExecute(pod, node), "TaintToleration",
       "node(s) had taints that the pod didn't tolerate"},
  };
  for (const auto& [holds, name, otherwise] : predicates) {
    if (holds) continue;
    return Rejection{name,
                     fmt::format("Predicate {} failed: {}", name, otherwise)};
  }
  return std::nullopt;
}

}  // namespace minisched::apiserver
