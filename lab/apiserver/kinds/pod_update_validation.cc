#include <set>
#include <string>
#include <vector>

#include "lab/apiserver/kinds/pod_validation.h"
#include "lab/apiserver/limits.h"

namespace minisched::apiserver {
namespace {

constexpr char kOnlyThese[] =
    "pod updates may not change fields other than "
    "`spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to "
    "existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to "
    "be set to 1 if it was previously negative)\n";

// The error shows the difference between the specs only if both together have
// at most this many bytes as JSON, because the JSON library computes the
// difference in quadratic time.
constexpr std::size_t kMaxCompared = 32'000;

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

// Returns the difference between the specs as a JSON patch, or "" if the specs
// are long.
std::string Difference(const Json& old, const Json& spec) {
  const bool is_long =
      Extent::Of(old).bytes + Extent::Of(spec).bytes > kMaxCompared;
  return is_long ? "" : Json::diff(old, spec).dump();
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
