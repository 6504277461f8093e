#include <map>

#include "minisched/apiserver/pod_validation.h"

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

void ValidateDeadlineUpdate(const Field& deadline, const Json& old,
                            FieldErrors& errors) {
  if (deadline.exists()) {
    if (old.is_null() || deadline.number() <= GetInt(old)) return;
    errors.Invalid(deadline.path(), deadline.value(),
                   "must be less than or equal to previous value");
  } else if (!old.is_null()) {
    errors.Invalid(deadline.path(), nullptr,
                   "must not update from a positive integer to nil value");
  }
}

// Tolerations can only be added, and how long they hold changed.
void ValidateTolerationsUpdate(const Field& tolerations, const Json& old,
                               FieldErrors& errors) {
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
    errors.Forbidden(
        tolerations.path(),
        "existing toleration can not be modified except its tolerationSeconds");
    return;
  }
}

void ValidateGatesUpdate(const Field& gates, const Json& old,
                         FieldErrors& errors) {
  for (const Field& gate : gates.elements()) {
    const std::string name = gate["name"].text();
    if (!FindBy(old, "name", name).is_null()) continue;
    errors.Forbidden(
        gate["name"].path(),
        "only deletion is allowed, but found new scheduling gate '" + name +
            "'");
  }
}

void ValidateNodeSelectorUpdate(const Field& selector, const Json& old,
                                FieldErrors& errors) {
  for (const auto& [key, value] : old.items()) {
    if (Get(selector.value(), key) == value) continue;
    errors.Invalid(selector.path(), selector.value(),
                   "only additions to spec.nodeSelector are allowed (no "
                   "mutations or deletions)");
    return;
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

void ValidateNodeAffinityUpdate(const Field& affinity, const Json& old,
                                FieldErrors& errors) {
  constexpr char kRequired[] = "requiredDuringSchedulingIgnoredDuringExecution";
  const Json& before = Get(old, kRequired, "nodeSelectorTerms");
  const Field terms = affinity[kRequired]["nodeSelectorTerms"];
  if (before.empty()) return;
  if (before.size() != terms.value().size()) {
    errors.Invalid(terms.path(), terms.value(),
                   "no additions/deletions to non-empty NodeSelectorTerms list "
                   "are allowed");
    return;
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Field term = terms.elements()[i];
    if (OnlyAdds(term.value(), before[i])) continue;
    errors.Invalid(term.path(), term.value(),
                   "only additions are allowed (no mutations or deletions)");
  }
}

// While gates hold a pod, where it may go can be narrowed. Puts back what of
// `spec` may differ for that.
void ValidateGatedUpdate(const Field& spec, const Json& old, Json& restored,
                         FieldErrors& errors) {
  ValidateNodeSelectorUpdate(spec["nodeSelector"], Get(old, "nodeSelector"),
                             errors);
  Restore(restored, old, "nodeSelector");
  ValidateNodeAffinityUpdate(spec["affinity"]["nodeAffinity"],
                             Get(old, "affinity", "nodeAffinity"), errors);
  Json& affinity = restored["affinity"];
  if (affinity.is_null()) affinity = Json::object();
  Restore(affinity, Get(old, "affinity"), "nodeAffinity");
  if (affinity.empty()) Restore(restored, old, "affinity");
}

}  // namespace

void ValidatePodUpdate(const Json& pod, const Json& old_pod,
                       FieldErrors& errors) {
  const Field spec = Field::SpecOf(pod);
  const Json& old = Get(old_pod, "spec");
  Json restored = spec.value();  // what may change put back
  for (const char* list : {"containers", "initContainers"}) {
    if (spec[list].value().size() != Get(old, list).size()) {
      errors.Forbidden(spec[list].path(),
                       "pod updates may not add or remove containers");
      return;
    }
    for (std::size_t i = 0; i < Get(old, list).size(); ++i) {
      Restore(restored[list][i], old[list][i], "image");
    }
  }
  ValidateDeadlineUpdate(spec["activeDeadlineSeconds"],
                         Get(old, "activeDeadlineSeconds"), errors);
  ValidateTolerationsUpdate(spec["tolerations"], Get(old, "tolerations"),
                            errors);
  ValidateGatesUpdate(spec["schedulingGates"], Get(old, "schedulingGates"),
                      errors);
  for (const char* key :
       {"activeDeadlineSeconds", "tolerations", "schedulingGates"}) {
    Restore(restored, old, key);
  }
  if (!Get(old, "schedulingGates").empty()) {
    ValidateGatedUpdate(spec, old, restored, errors);
  }
  if (restored == old) return;
  errors.Forbidden("spec", kOnlyThese + Json::diff(old, restored).dump());
}

}  // namespace minisched::apiserver
