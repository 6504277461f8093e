#include "minisched/apiserver/kinds/pod_validation.h"

namespace minisched::apiserver {
namespace {

constexpr char kOnlyThese[] =
    "pod updates may not change fields other than "
    "`spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to "
    "existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to "
    "be set to 1 if it was previously negative)\n";

// Makes a member of `object` what it is in `old`.
void Restore(Json& object, const Json& old, const std::string& key) {
  object.erase(key);
  if (const Json& before = Get(old, key); !before.is_null()) {
    object[key] = before;
  }
}

void ValidateDeadlineUpdate(const Field& deadline, const Json& old) {
  if (old.is_null()) return;
  if (!deadline.exists()) {
    deadline.Invalid("must not update from a positive integer to nil value");
  } else if (deadline.number() > GetInt(old)) {
    deadline.Invalid("must be less than or equal to previous value");
  }
}

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

void ValidateNodeSelectorUpdate(const Field& selector, const Json& old) {
  for (const auto& [key, value] : old.items()) {
    if (Get(selector.value(), key) == value) continue;
    return selector.Invalid(
        "only additions to spec.nodeSelector are allowed (no mutations or "
        "deletions)");
  }
}

// `now` begins with what `before` has; a term that is empty, and so matches no
// node, stays so.
bool OnlyAdds(const Json& now, const Json& before) {
  bool was_empty = true;
  for (const char* list : {"matchExpressions", "matchFields"}) {
    const Json& old = Get(before, list);
    const Json& its = Get(now, list);
    was_empty &= old.empty();
    if (its.size() < old.size() ||
        !std::equal(old.begin(), old.end(), its.begin())) {
      return false;
    }
  }
  return !was_empty || now.empty();
}

void ValidateNodeAffinityUpdate(const Field& affinity, const Json& old) {
  constexpr char kRequired[] = "requiredDuringSchedulingIgnoredDuringExecution";
  const Json& before = Get(old, kRequired, "nodeSelectorTerms");
  const Field terms = affinity[kRequired]["nodeSelectorTerms"];
  if (before.empty()) return;
  if (before.size() != terms.value().size()) {
    return terms.Invalid(
        "no additions/deletions to non-empty NodeSelectorTerms list are "
        "allowed");
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Field term = terms.elements()[i];
    if (OnlyAdds(term.value(), before[i])) continue;
    term.Invalid("only additions are allowed (no mutations or deletions)");
  }
}

// While gates hold a pod, where it may go can be narrowed. Puts back what of
// `spec` may differ for that.
void ValidateGatedUpdate(const Field& spec, const Json& old, Json& restored) {
  ValidateNodeSelectorUpdate(spec["nodeSelector"], Get(old, "nodeSelector"));
  Restore(restored, old, "nodeSelector");
  ValidateNodeAffinityUpdate(spec["affinity"]["nodeAffinity"],
                             Get(old, "affinity", "nodeAffinity"));
  Json& affinity = restored["affinity"];
  if (affinity.is_null()) affinity = Json::object();
  Restore(affinity, Get(old, "affinity"), "nodeAffinity");
  if (affinity.empty()) Restore(restored, old, "affinity");
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
      Restore(restored[list][i], old[list][i], "image");
    }
  }
  ValidateDeadlineUpdate(spec["activeDeadlineSeconds"],
                         Get(old, "activeDeadlineSeconds"));
  ValidateTolerationsUpdate(spec["tolerations"], Get(old, "tolerations"));
  ValidateGatesUpdate(spec["schedulingGates"], Get(old, "schedulingGates"));
  for (const char* key :
       {"activeDeadlineSeconds", "tolerations", "schedulingGates"}) {
    Restore(restored, old, key);
  }
  if (!Get(old, "schedulingGates").empty()) {
    ValidateGatedUpdate(spec, old, restored);
  }
  if (restored == old) return;
  spec.Forbidden(kOnlyThese + Json::diff(old, restored).dump());
}

}  // namespace minisched::apiserver
