#include <set>
#include <string>
#include <vector>

#include "lab/apiserver/kinds/pod_validation.h"

namespace minisched::apiserver {
namespace {

constexpr char kOnlyThese[] =
    "pod updates may not change fields other than "
    "`spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to "
    "existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to "
    "be set to 1 if it was previously negative)\n";

Json WithoutSeconds(Json toleration) {
  toleration.erase("tolerationSeconds");
  return toleration;
}

// Allows new tolerations and changes of tolerationSeconds, but no other change.
void ValidateTolerationsUpdate(const Field& tolerations, const Json& old) {
  std::set<Json> kept;
  for (const Json& toleration : tolerations.value()) {
    kept.insert(WithoutSeconds(toleration));
  }
  for (const Json& before : old) {
    if (kept.contains(WithoutSeconds(before))) continue;
    return tolerations.Forbidden(
        "existing toleration can not be modified except its tolerationSeconds");
  }
}

void ValidateGatesUpdate(const Field& gates, const Json& old) {
  const auto before = IndexBy(old, "name");
  for (const Field& gate : gates.elements()) {
    const Field name = gate["name"];
    if (before.contains(name.text())) continue;
    name.Forbidden("only deletion is allowed, but found new scheduling gate '" +
                   name.text() + "'");
  }
}

}  // namespace

void ValidatePodUpdate(const Field& spec, const Json& old) {
  // The new spec with the old values of all fields that may change.
  Json restored = spec.value();
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
  std::vector<std::string> changeable = {"activeDeadlineSeconds", "tolerations",
                                         "schedulingGates"};
  // A gated pod may still change its node selection.
  if (old.contains("schedulingGates")) {
    changeable.insert(changeable.end(), {"nodeSelector", "affinity"});
  }
  for (const std::string& key : changeable) CopyMember(old, key, restored);
  if (restored == old) return;
  spec.Forbidden(kOnlyThese + Difference(old, restored));
}

}  // namespace minisched::apiserver
