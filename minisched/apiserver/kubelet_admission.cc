#include "minisched/apiserver/kubelet_admission.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "minisched/api/labels.h"

namespace minisched::apiserver {
namespace {

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

// Init containers run one after the other, before the others do; sidecars among
// them keep running. Follows PodRequests() of k8s.io/component-helpers.
ResourceList RequestsOf(const Json& spec) {
  const auto requests = [](const Json& container) {
    return ToResources(Get(container, "resources", "requests"));
  };
  ResourceList sum;
  ResourceList sidecars;
  ResourceList init;
  for (const Json& container : Get(spec, "containers")) {
    Add(sum, requests(container));
  }
  for (const Json& container : Get(spec, "initContainers")) {
    ResourceList now = requests(container);
    if (GetString(container, "restartPolicy") == "Always") {
      Add(sum, now);
      Add(sidecars, now);
      now = sidecars;
    } else {
      Add(now, sidecars);
    }
    RaiseTo(init, now);
  }
  RaiseTo(sum, init);
  // What the pod says as a whole counts instead.
  for (const auto& [name, quantity] : requests(spec)) sum[name] = quantity;
  Add(sum, ToResources(Get(spec, "overhead")));
  return sum;
}

std::set<Demand::Port> PortsOf(const Json& spec) {
  std::set<Demand::Port> ports;
  const auto add = [&](const Json& containers, bool sidecars_only) {
    for (const Json& container : containers) {
      if (sidecars_only && GetString(container, "restartPolicy") != "Always") {
        continue;
      }
      for (const Json& port : Get(container, "ports")) {
        const std::int64_t number = GetInt(port, "hostPort");
        const std::string ip = GetString(port, "hostIP");
        if (number == 0) continue;
        ports.emplace(number, GetString(port, "protocol"),
                      ip.empty() ? "0.0.0.0" : ip);
      }
    }
  };
  add(Get(spec, "containers"), false);
  add(Get(spec, "initContainers"), true);
  return ports;
}

bool Conflict(const Demand::Port& a, const Demand::Port& b) {
  const auto& [a_number, a_protocol, a_ip] = a;
  const auto& [b_number, b_protocol, b_ip] = b;
  return a_number == b_number && a_protocol == b_protocol &&
         (a_ip == b_ip || a_ip == "0.0.0.0" || b_ip == "0.0.0.0");
}

bool HasFreePorts(const Demand& demand, const Demand& used) {
  return std::none_of(
      demand.ports.begin(), demand.ports.end(), [&](const auto& wanted) {
        // Those of that number are together.
        auto i = used.ports.lower_bound({std::get<0>(wanted), "", ""});
        for (; i != used.ports.end() && std::get<0>(*i) == std::get<0>(wanted);
             ++i) {
          if (Conflict(wanted, *i)) return true;
        }
        return false;
      });
}

// A name of a vendor's own, "nvidia.com/gpu".
bool IsExtended(const std::string& resource) {
  return resource.find('/') != resource.npos &&
         resource.find("kubernetes.io/") == resource.npos &&
         !resource.starts_with("requests.");
}

std::optional<Rejection> RejectForResource(const std::string& name,
                                           const Quantity& wanted,
                                           const Quantity& used,
                                           const Quantity& capacity) {
  Quantity total = used;
  total += wanted;
  if (total <= capacity) return std::nullopt;
  const auto text = [&](const Quantity& quantity) {
    return std::to_string(name == "cpu" ? quantity.MilliValue()
                                        : quantity.Value());
  };
  return Rejection{"OutOf" + name, "Node didn't have enough resource: " + name +
                                       ", requested: " + text(wanted) +
                                       ", used: " + text(used) +
                                       ", capacity: " + text(capacity)};
}

std::optional<Rejection> RejectForResources(const Demand& demand,
                                            const Json& node,
                                            const Demand& used) {
  const ResourceList capacity = ToResources(Get(node, "status", "allocatable"));
  const auto in = [](const ResourceList& list, const std::string& name) {
    const auto found = list.find(name);
    return found == list.end() ? Quantity() : found->second;
  };
  const auto pods = static_cast<std::int64_t>(used.pods);
  if (auto no =
          RejectForResource("pods", Quantity::FromValue(1),
                            Quantity::FromValue(pods), in(capacity, "pods"))) {
    return no;
  }
  std::vector<std::string> names = {"cpu", "memory", "ephemeral-storage"};
  for (const auto& [name, quantity] : demand.requests) {
    // What the node doesn't know may be given out by something else.
    if (!IsExtended(name) || capacity.contains(name)) names.push_back(name);
  }
  for (const std::string& name : names) {
    const Quantity wanted = in(demand.requests, name);
    if (wanted.IsZero()) continue;
    if (auto no = RejectForResource(name, wanted, in(used.requests, name),
                                    in(capacity, name))) {
      return no;
    }
  }
  return std::nullopt;
}

// One that can't be understood matches nothing.
bool Matches(const Json& expression, const Labels& labels) {
  const auto op = Requirement::FindOperator(GetString(expression, "operator"));
  if (!op) return false;
  const Json& values = Get(expression, "values");
  try {
    return Requirement(GetString(expression, "key"), *op,
                       values.is_array()
                           ? values.get<std::vector<std::string>>()
                           : std::vector<std::string>())
        .Matches(labels);
  } catch (const std::exception&) {
    return false;
  }
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
  const auto all = [](const Json& expressions, const Labels& of) {
    return std::all_of(
        expressions.begin(), expressions.end(),
        [&](const Json& expression) { return Matches(expression, of); });
  };
  const Json& terms = Get(required, "nodeSelectorTerms");
  return std::any_of(terms.begin(), terms.end(), [&](const Json& term) {
    const Json& by_label = Get(term, "matchExpressions");
    const Json& by_field = Get(term, "matchFields");
    return !(by_label.empty() && by_field.empty()) && all(by_label, labels) &&
           all(by_field, fields);
  });
}

}  // namespace

Demand Demand::Of(const Json& pod) {
  const Json& spec = Get(pod, "spec");
  return {RequestsOf(spec), PortsOf(spec), 1};
}

Demand& Demand::operator+=(const Demand& other) {
  Add(requests, other.requests);
  ports.insert(other.ports.begin(), other.ports.end());
  pods += other.pods;
  return *this;
}

Demand& Demand::operator-=(const Demand& other) {
  for (const auto& [name, quantity] : other.requests) {
    requests[name] -= quantity;
  }
  for (const Port& port : other.ports) ports.erase(port);
  pods -= other.pods;
  return *this;
}

std::optional<Rejection> Reject(const Json& pod, const Demand& demand,
                                const Json& node, const Demand& used) {
  if (auto no = RejectForResources(demand, node, used)) return no;
  const auto predicate = [](const std::string& name, const std::string& why) {
    return Rejection{name, "Predicate " + name + " failed: " + why};
  };
  if (!MatchesNodeAffinity(Get(pod, "spec"), node)) {
    return predicate("NodeAffinity",
                     "node(s) didn't match Pod's node affinity/selector");
  }
  if (!HasFreePorts(demand, used)) {
    return predicate(
        "NodePorts",
        "node(s) didn't have free ports for the requested pod ports");
  }
  if (!FindUntoleratedTaint(node, pod, "NoExecute").is_null()) {
    return predicate("TaintToleration",
                     "node(s) had taints that the pod didn't tolerate");
  }
  return std::nullopt;
}

const Json& FindUntoleratedTaint(const Json& node, const Json& pod,
                                 const std::string& effect) {
  static const Json& none = *new Json();
  const Json& tolerations = Get(pod, "spec", "tolerations");
  for (const Json& taint : Get(node, "spec", "taints")) {
    if (GetString(taint, "effect") == effect &&
        std::none_of(tolerations.begin(), tolerations.end(),
                     [&](const Json& t) { return Tolerates(t, taint); })) {
      return taint;
    }
  }
  return none;
}

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

}  // namespace minisched::apiserver
