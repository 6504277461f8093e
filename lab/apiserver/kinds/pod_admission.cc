#include "lab/apiserver/kinds/pod_admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "lab/apiserver/errors.h"
#include "lab/apiserver/kinds/defaults.h"
#include "lab/apiserver/kinds/limit_ranges.h"
#include "lab/apiserver/kinds/pods.h"
#include "lab/apiserver/resources.h"
#include "minisched/api/names.h"

namespace minisched::apiserver {
namespace {

constexpr char kPriorityClasses[] = "priorityclasses.scheduling.k8s.io";
constexpr char kRuntimeClasses[] = "runtimeclasses.node.k8s.io";

// Returns a 403 error about a new pod. The error names the generateName of a
// pod that has one, because upstream generates the name later.
StatusError Refusal(const Json& pod, const std::string& why) {
  const std::string base = GetString(pod, "metadata", "generateName");
  return Forbidden(GetResource("", "pods"), base.empty() ? NameOf(pod) : base,
                   why);
}

// Returns the PriorityClass that the pod names. If the pod names no class,
// returns the global default, or nullptr if there is none.
Object PriorityClassOf(const Json& pod, const Store& store) {
  const std::string name = GetString(pod, "spec", "priorityClassName");
  if (!name.empty()) return store.Find(kPriorityClasses, {"", name});
  for (const auto& [key, each] : store.All(kPriorityClasses)) {
    if (GetBool(*each, "globalDefault")) return each;
  }
  return nullptr;
}

// Sets the priority and preemption policy from the pod's class. Throws
// StatusError (403) if the pod already has other values, or if the class does
// not exist.
void SetPriority(Json& pod, const Store& store) {
  const Object priority_class = PriorityClassOf(pod, store);
  Json& spec = pod["spec"];
  const std::string name = GetString(spec, "priorityClassName");
  if (!priority_class && !name.empty()) {
    throw Refusal(pod, "no PriorityClass with name " + name + " was found");
  }
  const auto set = [&](const char* key, const char* what, const Json& value) {
    if (!Get(spec, key).is_null() && spec[key] != value) {
      const auto text = [](const Json& json) {
        return json.is_string() ? GetString(json) : json.dump();
      };
      throw Refusal(
          pod, fmt::format("the {} ({}) must not be provided in pod spec; "
                           "priority admission controller computed {} from the "
                           "given PriorityClass name",
                           what, text(spec[key]), text(value)));
    }
    spec[key] = value;
  };
  const Json none = {{"preemptionPolicy", "PreemptLowerPriority"}};
  const Json& its = priority_class ? *priority_class : none;
  set("priority", "integer value of priority", GetInt(its, "value"));
  set("preemptionPolicy", "string value of PreemptionPolicy",
      GetString(its, "preemptionPolicy"));
  if (priority_class) spec["priorityClassName"] = NameOf(its);
}

// Returns the pod's RuntimeClass, or nullptr if there is none.
Object RuntimeClassOf(const Json& pod, const Store& store) {
  const std::string name = GetString(pod, "spec", "runtimeClassName");
  if (name.empty()) return nullptr;
  return store.Find(kRuntimeClasses, {"", name});
}

// Throws StatusError (403) if the pod's RuntimeClass does not exist or
// contradicts the pod.
void CheckRuntimeClass(const Json& pod, const Store& store) {
  const std::string name = GetString(pod, "spec", "runtimeClassName");
  const Object runtime_class = RuntimeClassOf(pod, store);
  if (name.empty()) return;
  if (!runtime_class) {
    throw Refusal(
        pod, fmt::format(R"(pod rejected: RuntimeClass "{}" not found)", name));
  }
  const Json& overhead = Get(pod, "spec", "overhead");
  if (!overhead.empty() &&
      overhead != Get(*runtime_class, "overhead", "podFixed")) {
    throw Refusal(pod,
                  "pod rejected: Pod's Overhead doesn't match RuntimeClass's "
                  "defined Overhead");
  }
  const Json& selector = Get(*runtime_class, "scheduling", "nodeSelector");
  for (const auto& [key, value] : selector.items()) {
    const Json& its = Get(pod, "spec", "nodeSelector", key);
    if (its.is_null() || its == value) continue;
    throw Refusal(
        pod, fmt::format("conflict: runtimeClass.scheduling.nodeSelector[{0}] "
                         "= {1}; pod.spec.nodeSelector[{0}] = {2}",
                         key, GetString(value), GetString(its)));
  }
}

// Adds the overhead, the node selector and the tolerations of the pod's
// RuntimeClass.
void ApplyRuntimeClass(Json& pod, const Store& store) {
  const Object runtime_class = RuntimeClassOf(pod, store);
  if (!runtime_class) return;
  Json& spec = pod["spec"];
  SetDefault(spec, "overhead", Get(*runtime_class, "overhead", "podFixed"));
  const Json& scheduling = Get(*runtime_class, "scheduling");
  for (const auto& [key, value] : Get(scheduling, "nodeSelector").items()) {
    SetDefault(spec["nodeSelector"], key, value);
  }
  for (const Json& toleration : Get(scheduling, "tolerations")) {
    Json& tolerations = spec["tolerations"];
    if (std::ranges::find(tolerations, toleration) == tolerations.end()) {
      tolerations.push_back(toleration);
    }
  }
}

void MergeLabelKeysOf(Json& part, const Json& labels) {
  for (Json& inner : part) {
    if (inner.is_structured()) MergeLabelKeysOf(inner, labels);
  }
  if (!part.is_object() || !part.contains("labelSelector")) return;
  const auto merge = [&](const char* list, const char* op) {
    for (const Json& key : Get(part, list)) {
      const Json& value = Get(labels, GetString(key));
      if (value.is_null()) continue;
      Json& expressions = part["labelSelector"]["matchExpressions"];
      const Json expression = {
          {"key", key}, {"operator", op}, {"values", {value}}};
      if (std::ranges::find(expressions, expression) == expressions.end()) {
        expressions.push_back(expression);
      }
    }
  };
  merge("matchLabelKeys", "In");
  merge("mismatchLabelKeys", "NotIn");
}

// Returns the pod's labels that have valid values. Invalid values may be long,
// and Validate() refuses them later.
Json ValidLabels(const Json& pod) {
  Json labels = Get(pod, "metadata", "labels");
  for (auto label = labels.begin(); label != labels.end();) {
    const bool valid = CheckLabelValue(GetString(*label)).empty();
    label = valid ? std::next(label) : labels.erase(label);
  }
  return labels;
}

}  // namespace

void AdmitPod(Json& pod, const Store& store) {
  SetLimitRangeDefaults(pod, store);
  CopyTopologyLabels(pod, store);
  SetPriority(pod, store);
  AddDefaultTolerations(pod["spec"]);
  CheckRuntimeClass(pod, store);
  ApplyRuntimeClass(pod, store);
  const std::string violation = LimitRangeViolation(pod, store);
  if (!violation.empty()) throw Refusal(pod, violation);
}

void CompletePod(Json& pod, const Store& store) {
  Json& spec = pod["spec"];
  SetLimitRangeDefaults(pod, store);
  CopyTopologyLabels(pod, store);
  if (Get(spec, "priority").is_null()) {
    const Object priority_class = PriorityClassOf(pod, store);
    static const Json kNone;
    const Json& its = priority_class ? *priority_class : kNone;
    spec["priority"] = GetInt(its, "value");
    SetDefault(spec, "preemptionPolicy", Get(its, "preemptionPolicy"));
    SetDefault(spec, "priorityClassName", Get(its, "metadata", "name"));
  }
  AddDefaultTolerations(spec);
  ApplyRuntimeClass(pod, store);
}

void AddDefaultTolerations(Json& spec) {
  const Json given = Get(spec, "tolerations");
  for (const auto* key :
       {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    const auto tolerates = [&](const Json& toleration) {
      const std::string its_key = GetString(toleration, "key");
      const std::string effect = GetString(toleration, "effect");
      return (its_key.empty() || its_key == key) &&
             (effect.empty() || effect == "NoExecute");
    };
    if (std::any_of(given.begin(), given.end(), tolerates)) continue;
    spec["tolerations"].push_back({{"key", key},
                                   {"operator", "Exists"},
                                   {"effect", "NoExecute"},
                                   {"tolerationSeconds", 300}});
  }
}

void MergeLabelKeys(Json& pod) {
  MergeLabelKeysOf(pod["spec"], ValidLabels(pod));
}

}  // namespace minisched::apiserver
