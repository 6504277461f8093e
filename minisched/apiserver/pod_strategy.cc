#include <cctype>
#include <optional>
#include <vector>

#include "minisched/api/quantity.h"
#include "minisched/apiserver/defaults.h"
#include "minisched/apiserver/names.h"
#include "minisched/apiserver/pod_admission.h"
#include "minisched/apiserver/pod_validation.h"
#include "minisched/apiserver/pods.h"
#include "minisched/apiserver/strategies.h"

namespace minisched::apiserver {
namespace {

// Guaranteed where each container is limited to what it asks for, BestEffort
// where none asks for anything. Resources of the pod as a whole stand for those
// of its containers.
std::string QosClassOf(const Json& pod) {
  std::vector<const Json*> resources;
  if (const Json& all = Get(pod, "spec", "resources"); !all.is_null()) {
    resources.push_back(&all);
  } else {
    for (const auto* list : {"containers", "initContainers"}) {
      for (const Json& container : Get(pod, "spec", list)) {
        resources.push_back(&Get(container, "resources"));
      }
    }
  }
  bool any = false;
  bool guaranteed = true;
  for (const Json* each : resources) {
    for (const auto* name : {"cpu", "memory"}) {
      const auto amount = [&](const char* list) {
        const std::string text = GetString(*each, list, name);
        return text.empty() ? Quantity() : Quantity::Parse(text);
      };
      const Quantity request = amount("requests");
      const Quantity limit = amount("limits");
      any |= request.Sign() > 0 || limit.Sign() > 0;
      guaranteed &= limit.Sign() > 0 && request == limit;
    }
  }
  if (!any) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

// Makes expressions of the selector out of matchLabelKeys and
// mismatchLabelKeys, with the values of the pod's own labels.
void MergeLabelKeys(Json& term, const Json& labels) {
  if (!term.contains("labelSelector")) return;
  const auto merge = [&](const char* list, const char* op) {
    for (const Json& key : Get(term, list)) {
      const Json& value = Get(labels, key.get<std::string>());
      if (value.is_null()) continue;
      term["labelSelector"]["matchExpressions"].push_back(
          {{"key", key}, {"operator", op}, {"values", {value}}});
    }
  };
  merge("matchLabelKeys", "In");
  merge("mismatchLabelKeys", "NotIn");
}

void MergeLabelKeysOfPod(Json& pod) {
  const Json labels = Get(pod, "metadata", "labels");
  const auto merge = [&](const char* path) {
    const Json::json_pointer pointer(path);
    if (!pod.contains(pointer)) return;
    for (Json& term : pod[pointer]) {
      MergeLabelKeys(
          term.contains("podAffinityTerm") ? term["podAffinityTerm"] : term,
          labels);
    }
  };
  merge("/spec/topologySpreadConstraints");
  for (const std::string kind : {"podAffinity", "podAntiAffinity"}) {
    for (const std::string when : {"required", "preferred"}) {
      merge(("/spec/affinity/" + kind + "/" + when +
             "DuringSchedulingIgnoredDuringExecution")
                .c_str());
    }
  }
}

// A condition's observedGeneration stays where a client that doesn't know it
// leaves it out.
void KeepObservedGenerations(Json& status, const Json& old) {
  const auto keep = [](Json& now, const Json& before) {
    const Json& generation = Get(before, "observedGeneration");
    if (now.contains("observedGeneration") || generation.is_null()) return;
    now["observedGeneration"] = generation;
  };
  keep(status, old);
  if (!status.contains("conditions")) return;
  for (Json& condition : status["conditions"]) {
    keep(condition,
         FindBy(Get(old, "conditions"), "type", GetString(condition, "type")));
  }
}

void ValidateStatusUpdate(const Json& pod, const Json& old,
                          FieldErrors& errors) {
  const Field status(Get(pod, "status"), "status");
  const Field nominated = status["nominatedNodeName"];
  for (const Field& condition : status["conditions"].elements()) {
    AddInvalid(errors, condition.path() + ".Type", condition["type"].value(),
               CheckLabelKey(condition["type"].text()));
  }
  if (nominated.exists() &&
      nominated.value() != Get(old, "status", "nominatedNodeName")) {
    AddInvalid(errors, nominated.path(), nominated.value(),
               CheckDns1123Subdomain(nominated.text()));
    if (!GetString(old, "spec", "nodeName").empty()) {
      errors.Forbidden(
          nominated.path(),
          "may not be set on pods that are already bound to a node");
    }
  }
  CheckUnchanged(status["qosClass"], Get(old, "status", "qosClass"), errors);
}

class Pods : public Strategy {
 public:
  void SetDefaults(Json& pod) const override { SetPodDefaults(pod); }

  void PrepareForCreate(Json& pod, const Store& store) const override {
    AdmitPod(pod, store);
    pod["status"] = {{"phase", "Pending"}, {"qosClass", QosClassOf(pod)}};
    if (!Get(pod, "spec", "schedulingGates").empty()) {
      SetPodCondition(pod, "PodScheduled", "False", "SchedulingGated",
                      "Scheduling is blocked due to non-empty scheduling gates",
                      GetString(pod, "metadata", "creationTimestamp"));
    }
    MergeLabelKeysOfPod(pod);
  }

  void PrepareForUpdate(Json& pod, const Json& old,
                        std::string_view subresource) const override {
    Strategy::PrepareForUpdate(pod, old, subresource);
    if (subresource.empty()) return AdmitPodUpdate(pod, old);
    const Json& owners = Get(old, "metadata", "ownerReferences");
    pod["metadata"].erase("ownerReferences");
    if (!owners.is_null()) pod["metadata"]["ownerReferences"] = owners;
    Json& status = pod["status"];
    if (!status.contains("qosClass")) {
      status["qosClass"] = Get(old, "status", "qosClass");
    }
    KeepObservedGenerations(status, Get(old, "status"));
  }

  void Validate(const Json& pod, FieldErrors& errors) const override {
    const Field spec = Field::SpecOf(pod);
    ValidatePodSpec(spec, false, errors);
    for (const char* list : {"containers", "initContainers"}) {
      for (const Field& container : spec[list].elements()) {
        const Field image = container["image"];
        const std::string text = image.text();
        if (text.empty() ||
            (!std::isspace(text[0]) && !std::isspace(text.back()))) {
          continue;
        }
        errors.Invalid(image.path(), text,
                       "must not have leading or trailing whitespace");
      }
    }
    const bool is_new = Get(pod, "metadata", "resourceVersion").is_null();
    if (is_new && spec["nodeName"].exists() &&
        spec["schedulingGates"].exists()) {
      errors.Forbidden(
          "spec.nodeName",
          "cannot be set until all schedulingGates have been cleared");
    }
  }

  void ValidateUpdate(const Json& pod, const Json& old,
                      std::string_view subresource,
                      FieldErrors& errors) const override {
    if (subresource == "status") ValidateStatusUpdate(pod, old, errors);
    if (subresource.empty()) ValidatePodUpdate(pod, old, errors);
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

const Strategy& PodStrategy() {
  static const Pods strategy;
  return strategy;
}

}  // namespace minisched::apiserver
