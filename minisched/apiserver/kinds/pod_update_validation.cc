#include "minisched/apiserver/kinds/pod_validation.h"

namespace minisched::apiserver {
namespace {

constexpr char kOnlyThese[] =
    "pod updates may not change fields other than "
    "`spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to "
    "existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to "
    "be set to 1 if it was previously negative)\n";

// Tolerations can only be added, and how long they hold changed.
void ValidateTolerationsUpdate(const Field& tolerations, const Json& old) {
  const auto without_seconds = [](Json toleration) {
    toleration.erase("tolerationSeconds");
    return toleration;
  };
  for (const Json& before : old) {
    bool found = false;
    for (const Json& now : tolerations.value()) {
      found |= without_seconds(now) == without_seconds(before);
    }
    if (found) continue;
    return tolerations.Forbidden(
        "existing toleration can not be modified except its tolerationSeconds");
  }
}

void ValidateGatesUpdate(const Field& gates, const Json& old) {
  for (const Field& gate : gates.elements()) {
    const Field name = gate["name"];
    if (!FindBy(old, "name", name.text()).is_null()) continue;
    name.Forbidden("only deletion is allowed, but found new scheduling gate '" +
                   name.text() + "'");
  }
}

}  // namespace

void ValidatePodUpdate(const Field& spec, const Json& old) {
  Json restored = spec.value();  // what may change put back
  for (const char* list : {"containers", "initContainers"}) {
    if (spec[list].value().size() != Get(old, list).size()) {
      return spec[list].Forbidden(
          "pod updates may not add or remove containers");
    }
    for (std::size_t i = 0; i < Get(old, list).size(); ++i) {
      CopyMember(old[list][i], "image", restored[list][i]);
    }
  }
  ValidateTolerationsUpdate(spec["tolerations"], Get(old, "tolerations"));
  ValidateGatesUpdate(spec["schedulingGates"], Get(old, "schedulingGates"));
  std::vector<std::string> free = {"activeDeadlineSeconds", "tolerations",
                                   "schedulingGates"};
  // While gates hold a pod, it isn't settled where it may go.
  if (old.contains("schedulingGates")) {
    free.insert(free.end(), {"nodeSelector", "affinity"});
  }
  for (const std::string& key : free) CopyMember(old, key, restored);
  if (restored == old) return;
  spec.Forbidden(kOnlyThese + Json::diff(old, restored).dump());
}

}  // namespace minisched::apiserver
