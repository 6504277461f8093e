#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "lab/apiserver/kinds/defaults.h"
#include "lab/apiserver/kinds/pod_validation.h"
#include "lab/apiserver/kinds/pods.h"
#include "lab/apiserver/kinds/strategies.h"
#include "lab/apiserver/resources.h"
#include "lab/apiserver/store.h"
#include "minisched/api/names.h"
#include "minisched/api/quantity.h"

namespace minisched::apiserver {
namespace {

// Returns "Guaranteed" if each container has limits for cpu and memory that
// equal its requests, "BestEffort" if no container has a request or limit for
// cpu or memory, and "Burstable" otherwise.
std::string QosClassOf(const Json& pod) {
  bool any = false;
  bool guaranteed = true;
  for (const char* list : {"containers", "initContainers"}) {
    for (const Json& container : Get(pod, "spec", list)) {
      for (const char* resource : {"cpu", "memory"}) {
        const auto amount = [&](const char* which) {
          const std::string text =
              GetString(container, "resources", which, resource);
          return text.empty() ? Quantity() : Quantity::Parse(text);
        };
        const Quantity request = amount("requests");
        const Quantity limit = amount("limits");
        any |= request.Sign() > 0 || limit.Sign() > 0;
        guaranteed &= limit.Sign() > 0 && request == limit;
      }
    }
  }
  if (!any) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

// Adds an expression to each labelSelector in `part` for each key of the
// matchLabelKeys and mismatchLabelKeys beside the selector. The value of the
// expression is the value of the pod's own label. Skips keys that the pod's
// labels lack.
void MergeLabelKeys(Json& part, const Json& labels) {
  for (Json& inner : part) {
    if (inner.is_structured()) MergeLabelKeys(inner, labels);
  }
  if (!part.is_object() || !part.contains("labelSelector")) return;
  const auto merge = [&](const char* list, const char* op) {
    for (const Json& key : Get(part, list)) {
      const Json& value = Get(labels, GetString(key));
      if (value.is_null()) continue;
      part["labelSelector"]["matchExpressions"].push_back(
          {{"key", key}, {"operator", op}, {"values", {value}}});
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

// ---- Upstream's admission plugins that matter to a scheduler: Priority,
// DefaultTolerationSeconds.

// Returns a 403 error about a new pod. The error names the generateName of a
// pod that has one, because upstream generates the name later.
StatusError Refusal(const Json& pod, const std::string& why) {
  const std::string base = GetString(pod, "metadata", "generateName");
  return Forbidden(GetResource("", "pods"), base.empty() ? NameOf(pod) : base,
                   why);
}

// Returns the PriorityClass that the pod names. Throws StatusError (403) if the
// class does not exist. If the pod names no class, returns the global default,
// or nullptr if there is none.
Object ClassOf(const Json& pod, const Store& store) {
  const std::string collection = "priorityclasses.scheduling.k8s.io";
  const std::string name = GetString(pod, "spec", "priorityClassName");
  if (!name.empty()) {
    if (Object found = store.Find(collection, {"", name})) return found;
    throw Refusal(pod, "no PriorityClass with name " + name + " was found");
  }
  for (const auto& [key, each] : store.All(collection)) {
    if (GetBool(*each, "globalDefault")) return each;
  }
  return nullptr;
}

// Sets the priority and preemption policy from the pod's class. Throws
// StatusError (403) if the pod already has other values.
void SetPriority(Json& pod, const Store& store) {
  const Object priority_class = ClassOf(pod, store);
  Json& spec = pod["spec"];
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

// Adds the tolerations that keep a pod for five minutes on a node that is not
// ready or unreachable.
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

class Pods : public Strategy {
 public:
  void SetDefaults(Json& pod) const override { SetPodDefaults(pod); }

  void PrepareForCreate(Json& pod, const Store& store) const override {
    SetPriority(pod, store);
    AddDefaultTolerations(pod["spec"]);
    CopyTopologyLabels(pod, store);
    pod["status"] = {{"phase", "Pending"}, {"qosClass", QosClassOf(pod)}};
    if (!Get(pod, "spec", "schedulingGates").empty()) {
      SetPodCondition(pod, "PodScheduled", "False", "SchedulingGated",
                      "Scheduling is blocked due to non-empty scheduling gates",
                      GetString(pod, "metadata", "creationTimestamp"));
    }
    MergeLabelKeys(pod["spec"], ValidLabels(pod));
  }

  void PrepareForUpdate(Json& pod, const Json& old,
                        std::string_view subresource) const override {
    Strategy::PrepareForUpdate(pod, old, subresource);
    if (subresource.empty()) {
      for (const char* key : {"priority", "preemptionPolicy"}) {
        SetDefault(pod["spec"], key, Get(old, "spec", key));
      }
      return AddDefaultTolerations(pod["spec"]);
    }
    CopyMember(Get(old, "metadata"), "ownerReferences", pod["metadata"]);
    pod["status"]["qosClass"] = Get(old, "status", "qosClass");
  }

  void Validate(const Json& pod, FieldErrors& errors) const override {
    const Field spec = Field::Of(pod, "spec", errors);
    ValidatePodSpec(spec);
    const bool is_new = Get(pod, "metadata", "resourceVersion").is_null();
    if (is_new && spec["nodeName"].exists() &&
        spec["schedulingGates"].exists()) {
      spec["nodeName"].Forbidden(
          "cannot be set until all schedulingGates have been cleared");
    }
  }

  void ValidateUpdate(const Json& pod, const Json& old,
                      std::string_view subresource,
                      FieldErrors& errors) const override {
    if (!subresource.empty()) return;
    ValidatePodUpdate(Field::Of(pod, "spec", errors), Get(old, "spec"));
  }

  bool has_generation() const override { return true; }

  std::optional<std::int64_t> GracePeriod(
      const Json& pod, std::optional<std::int64_t> requested) const override {
    const std::string phase = GetString(pod, "status", "phase");
    if (GetString(pod, "spec", "nodeName").empty() || phase == "Failed" ||
        phase == "Succeeded") {
      return 0;
    }
    const std::int64_t seconds = requested.value_or(
        GetInt(pod, "spec", "terminationGracePeriodSeconds"));
    return seconds < 0 ? 1 : seconds;
  }
};

}  // namespace

const Strategy& PodStrategy() { return Only<Pods>(); }

}  // namespace minisched::apiserver
