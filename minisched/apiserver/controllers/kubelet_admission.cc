#include "minisched/apiserver/controllers/kubelet_admission.h"

#include <algorithm>
#include <utility>

#include "minisched/api/labels.h"
#include "minisched/api/pod.h"

namespace minisched::apiserver {
namespace {

using std::chrono::seconds;

ResourceList ToResources(const Json& json) {
  ResourceList resources;
  for (const auto& [name, quantity] : json.items()) {
    resources[name] = Quantity::Parse(quantity.get<std::string>());
  }
  return resources;
}

void Add(ResourceList& to, const ResourceList& what) {
  for (const auto& [name, quantity] : what) to[name] += quantity;
}

void RaiseTo(ResourceList& resources, const ResourceList& at_least) {
  for (const auto& [name, quantity] : at_least) {
    Quantity& value = resources[name];
    value = std::max(value, quantity);
  }
}

bool IsSidecar(const Json& init_container) {
  return Get(init_container, "restartPolicy") == "Always";
}

// Those that don't end before the others begin.
std::vector<Json> LastingContainersOf(const Json& spec) {
  std::vector<Json> containers;
  for (const Json& container : Get(spec, "containers")) {
    containers.push_back(container);
  }
  for (const Json& container : Get(spec, "initContainers")) {
    if (IsSidecar(container)) containers.push_back(container);
  }
  return containers;
}

// One of "pods" included. Follows PodRequests() of k8s.io/component-helpers.
ResourceList RequestsOf(const Json& spec) {
  const auto requests = [](const Json& container) {
    return ToResources(Get(container, "resources", "requests"));
  };
  ResourceList sum;
  for (const Json& container : LastingContainersOf(spec)) {
    Add(sum, requests(container));
  }
  // Init containers run one after the other, while the sidecars that were
  // before them do.
  ResourceList sidecars;
  for (const Json& container : Get(spec, "initContainers")) {
    ResourceList now = sidecars;
    Add(now, requests(container));
    RaiseTo(sum, now);
    if (IsSidecar(container)) sidecars = now;
  }
  // What the pod says as a whole counts instead.
  for (const auto& [name, quantity] : requests(spec)) sum[name] = quantity;
  Add(sum, ToResources(Get(spec, "overhead")));
  sum["pods"] = Quantity::FromValue(1);
  return sum;
}

std::vector<Json> HostPortsOf(const Json& pod) {
  std::vector<Json> ports;
  for (const Json& container : LastingContainersOf(Get(pod, "spec"))) {
    for (const Json& port : Get(container, "ports")) {
      if (GetInt(port, "hostPort") != 0) ports.push_back(port);
    }
  }
  return ports;
}

bool Conflict(const Json& a, const Json& b) {
  const auto ip = [](const Json& port) {
    const std::string text = GetString(port, "hostIP");
    return text.empty() ? "0.0.0.0" : text;
  };
  return Get(a, "hostPort") == Get(b, "hostPort") &&
         Get(a, "protocol") == Get(b, "protocol") &&
         (ip(a) == ip(b) || ip(a) == "0.0.0.0" || ip(b) == "0.0.0.0");
}

bool HasFreePorts(const Json& pod, const std::vector<Object>& others) {
  for (const Json& wanted : HostPortsOf(pod)) {
    for (const Object& other : others) {
      for (const Json& taken : HostPortsOf(*other)) {
        if (Conflict(wanted, taken)) return false;
      }
    }
  }
  return true;
}

std::optional<Rejection> RejectForResources(const Json& pod, const Json& node,
                                            const std::vector<Object>& others) {
  ResourceList capacity = ToResources(Get(node, "status", "allocatable"));
  ResourceList used;
  for (const Object& other : others) {
    Add(used, RequestsOf(Get(*other, "spec")));
  }
  const ResourceList requests = RequestsOf(Get(pod, "spec"));
  // A kubelet names the first that is short, and looks at these first.
  std::vector<std::string> names = {"pods", "cpu", "memory",
                                    "ephemeral-storage"};
  for (const auto& [name, wanted] : requests) names.push_back(name);
  for (const std::string& name : names) {
    const auto request = requests.find(name);
    if (request == requests.end()) continue;
    const Quantity& wanted = request->second;
    // What a node doesn't know may be given out by something else.
    const bool extended = name.find('/') != name.npos;
    if (wanted.IsZero() || (extended && !capacity.contains(name))) continue;
    Quantity total = used[name];
    total += wanted;
    if (total <= capacity[name]) continue;
    const auto text = [&, cpu = name == "cpu"](const Quantity& quantity) {
      return std::to_string(cpu ? quantity.MilliValue() : quantity.Value());
    };
    return Rejection{"OutOf" + name, "Node didn't have enough resource: " +
                                         name + ", requested: " + text(wanted) +
                                         ", used: " + text(used[name]) +
                                         ", capacity: " + text(capacity[name])};
  }
  return std::nullopt;
}

bool MatchesAll(const Json& expressions, const Labels& labels) {
  return std::all_of(
      expressions.begin(), expressions.end(), [&](const Json& expression) {
        const std::string op = GetString(expression, "operator");
        std::vector<std::string> values;
        for (const Json& value : Get(expression, "values")) {
          values.push_back(value);
        }
        return Requirement(GetString(expression, "key"),
                           Requirement::FindOperator(op).value(), values)
            .Matches(labels);
      });
}

bool MatchesNodeAffinity(const Json& spec, const Json& node) {
  const Json& json = Get(node, "metadata", "labels");
  const Labels labels = json.is_object() ? json.get<Labels>() : Labels();
  const Labels fields = {{"metadata.name", NameOf(node)}};
  for (const auto& [key, value] : Get(spec, "nodeSelector").items()) {
    const auto label = labels.find(key);
    if (label == labels.end() || label->second != value) return false;
  }
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

// Follows ToleratesTaint() of k8s.io/component-helpers.
bool Tolerates(const Json& toleration, const Json& taint) {
  const auto any_or_same = [&](const char* key) {
    const std::string value = GetString(toleration, key);
    return value.empty() || value == GetString(taint, key);
  };
  if (!any_or_same("effect") || !any_or_same("key")) return false;
  const std::string op = GetString(toleration, "operator");
  if (op == "Exists") return true;
  return (op.empty() || op == "Equal") &&
         GetString(toleration, "value") == GetString(taint, "value");
}

}  // namespace

std::optional<Rejection> Reject(const Json& pod, const Json& node,
                                const std::vector<Object>& others) {
  if (auto no = RejectForResources(pod, node, others)) return no;
  const auto predicate = [](const std::string& name, const std::string& why) {
    return Rejection{name, "Predicate " + name + " failed: " + why};
  };
  if (!MatchesNodeAffinity(Get(pod, "spec"), node)) {
    return predicate("NodeAffinity",
                     "node(s) didn't match Pod's node affinity/selector");
  }
  if (!HasFreePorts(pod, others)) {
    return predicate(
        "NodePorts",
        "node(s) didn't have free ports for the requested pod ports");
  }
  if (ToleratedFor(pod, node) == seconds(0)) {
    return predicate("TaintToleration",
                     "node(s) had taints that the pod didn't tolerate");
  }
  return std::nullopt;
}

std::optional<seconds> ToleratedFor(const Json& pod, const Json& node) {
  std::optional<seconds> shortest;
  const Json& tolerations = Get(pod, "spec", "tolerations");
  for (const Json& taint : Get(node, "spec", "taints")) {
    if (Get(taint, "effect") != "NoExecute") continue;
    // The first that tolerates it counts.
    const auto toleration =
        std::find_if(tolerations.begin(), tolerations.end(),
                     [&](const Json& t) { return Tolerates(t, taint); });
    if (toleration == tolerations.end()) return seconds(0);
    if (!toleration->contains("tolerationSeconds")) continue;
    const seconds time(std::clamp<std::int64_t>(
        GetInt(*toleration, "tolerationSeconds"), 0, 1'000'000'000));
    shortest = std::min(shortest.value_or(time), time);
  }
  return shortest;
}

std::vector<std::string> NodeOfPod(const Json& pod) {
  std::string node = GetString(pod, "spec", "nodeName");
  if (node.empty()) return {};
  return {std::move(node)};
}

}  // namespace minisched::apiserver
