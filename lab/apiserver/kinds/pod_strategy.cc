#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "lab/apiserver/kinds/defaults.h"
#include "lab/apiserver/kinds/pod_admission.h"
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
    MergeLabelKeys(pod);
  }

  void CompleteRestored(Json& pod, const Store& store) const override {
    CompletePod(pod, store);
    MergeLabelKeys(pod);
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
