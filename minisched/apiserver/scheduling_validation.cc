#include <charconv>
#include <map>
#include <set>

#include "minisched/apiserver/names.h"
#include "minisched/apiserver/pod_validation.h"

namespace minisched::apiserver {
namespace {

void CheckKey(const Field& key, FieldErrors& errors) {
  AddInvalid(errors, key.path(), key.text(), CheckLabelKey(key.text()));
}

void CheckWeight(const Field& weight, FieldErrors& errors) {
  if (1 <= weight.number() && weight.number() <= 100) return;
  errors.Invalid(weight.path(), weight.number(), "must be in the range 1-100");
}

// A condition on a node's labels.
void ValidateExpression(const Field& expression, bool check_values,
                        FieldErrors& errors) {
  const std::string op = expression["operator"].text();
  const Field values = expression["values"];
  if (op == "In" || op == "NotIn") {
    Require(values, errors,
            "must be specified when `operator` is 'In' or 'NotIn'");
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!values.value().empty()) {
      errors.Forbidden(values.path(),
                       "may not be specified when `operator` is 'Exists' or "
                       "'DoesNotExist'");
    }
  } else if (op == "Gt" || op == "Lt") {
    if (values.value().size() != 1) {
      errors.Required(
          values.path(),
          "must be specified single value when `operator` is 'Lt' or 'Gt'");
    }
  } else {
    errors.Invalid(expression["operator"].path(), op,
                   "not a valid selector operator");
  }
  CheckKey(expression["key"], errors);
  if (!check_values) return;
  for (const Field& value : values.elements()) {
    AddInvalid(errors, value.path(), value.value(),
               CheckLabelValue(value.text()));
  }
}

// A condition on a node's fields: on its name, as there is no other.
void ValidateFieldExpression(const Field& expression, FieldErrors& errors) {
  const std::string op = expression["operator"].text();
  const Field values = expression["values"];
  if (op != "In" && op != "NotIn") {
    errors.Invalid(expression["operator"].path(), op,
                   "not a valid selector operator");
  } else if (values.value().size() != 1) {
    errors.Required(values.path(),
                    "must be only one value when `operator` is 'In' or 'NotIn' "
                    "for node field selector");
  }
  if (const Field key = expression["key"]; key.text() != "metadata.name") {
    errors.Invalid(key.path(), key.text(), "not a valid field selector key");
    return;
  }
  for (const Field& value : values.elements()) {
    AddInvalid(errors, value.path(), value.value(),
               CheckDns1123Subdomain(value.text()));
  }
}

void ValidateNodeTerm(const Field& term, bool check_values,
                      FieldErrors& errors) {
  for (const Field& expression : term["matchExpressions"].elements()) {
    ValidateExpression(expression, check_values, errors);
  }
  for (const Field& expression : term["matchFields"].elements()) {
    ValidateFieldExpression(expression, errors);
  }
}

void ValidateNodeAffinity(const Field& affinity, FieldErrors& errors) {
  const Field required =
      affinity["requiredDuringSchedulingIgnoredDuringExecution"];
  if (required.exists()) {
    const Field terms = required["nodeSelectorTerms"];
    Require(terms, errors, "must have at least one node selector term");
    for (const Field& term : terms.elements()) {
      ValidateNodeTerm(term, true, errors);
    }
  }
  for (const Field& preferred :
       affinity["preferredDuringSchedulingIgnoredDuringExecution"].elements()) {
    CheckWeight(preferred["weight"], errors);
    ValidateNodeTerm(preferred["preference"], false, errors);
  }
}

// matchLabelKeys and mismatchLabelKeys, which have become expressions of the
// selector already when a pod is validated.
void ValidateLabelKeys(const Field& term, FieldErrors& errors) {
  const Json& selector = Get(term.value(), "labelSelector");
  std::map<std::string, std::size_t> match_keys;
  std::set<std::string> mismatch_keys;
  for (const char* list : {"matchLabelKeys", "mismatchLabelKeys"}) {
    const Field keys = term[list];
    if (keys.exists() && selector.is_null()) {
      errors.Forbidden(keys.path(),
                       "must not be specified when labelSelector is not set");
      continue;
    }
    for (const Field& key : keys.elements()) CheckKey(key, errors);
  }
  for (const Field& key : term["mismatchLabelKeys"].elements()) {
    mismatch_keys.insert(key.text());
  }
  for (const Field& key : term["matchLabelKeys"].elements()) {
    match_keys.emplace(key.text(), match_keys.size());
    if (mismatch_keys.count(key.text()) == 0) continue;
    errors.Invalid(key.path(), key.text(),
                   "exists in both matchLabelKeys and mismatchLabelKeys");
  }
  std::set<std::string> seen;
  for (const auto& [key, value] : Get(selector, "matchLabels").items()) {
    seen.insert(key);
  }
  for (const Json& expression : Get(selector, "matchExpressions")) {
    const std::string key = GetString(expression, "key");
    const auto match = match_keys.find(key);
    if (seen.insert(key).second || match == match_keys.end()) continue;
    errors.Invalid(term.path() + "[" + std::to_string(match->second) + "]", key,
                   "exists in both matchLabelKeys and labelSelector");
  }
}

void ValidatePodTerm(const Field& term, FieldErrors& errors) {
  for (const char* key : {"labelSelector", "namespaceSelector"}) {
    ValidateLabelSelector(term[key].value(), term[key].path(), errors);
  }
  for (const Field& ns : term["namespaces"].elements()) {
    AddInvalid(errors, term["namespace"].path(), ns.value(),
               CheckDns1123Label(ns.text()));
  }
  ValidateLabelKeys(term, errors);
  Require(term["topologyKey"], errors, "can not be empty");
  CheckKey(term["topologyKey"], errors);
}

void ValidatePodAffinity(const Field& affinity, FieldErrors& errors) {
  for (const Field& term :
       affinity["requiredDuringSchedulingIgnoredDuringExecution"].elements()) {
    ValidatePodTerm(term, errors);
  }
  for (const Field& preferred :
       affinity["preferredDuringSchedulingIgnoredDuringExecution"].elements()) {
    CheckWeight(preferred["weight"], errors);
    ValidatePodTerm(preferred["podAffinityTerm"], errors);
  }
}

void ValidateGates(const Field& gates, FieldErrors& errors) {
  std::set<std::string> seen;
  for (const Field& gate : gates.elements()) {
    const std::string name = gate["name"].text();
    AddInvalid(errors, gate.path(), name, CheckLabelKey(name));
    if (!seen.insert(name).second) errors.Duplicate(gate.path(), name);
  }
}

void ValidateMinDomains(const Field& min_domains, const std::string& action,
                        FieldErrors& errors) {
  if (!min_domains.exists()) return;
  CheckPositive(min_domains, errors);
  if (action == "DoNotSchedule") return;
  errors.Invalid(min_domains.path(), min_domains.value(),
                 "can only use minDomains if whenUnsatisfiable=DoNotSchedule, "
                 "not " +
                     action);
}

void ValidateSpreading(const Field& constraints, FieldErrors& errors) {
  // A later one with the same key and action is the first one's error.
  std::map<std::string, std::size_t> left;
  const auto kind_of = [](const Field& constraint) {
    return "{" + constraint["topologyKey"].text() + ", " +
           constraint["whenUnsatisfiable"].text() + "}";
  };
  for (const Field& each : constraints.elements()) ++left[kind_of(each)];

  for (const Field& constraint : constraints.elements()) {
    const Field action = constraint["whenUnsatisfiable"];
    CheckPositive(constraint["maxSkew"], errors);
    Require(constraint["topologyKey"], errors, "can not be empty");
    if (action.text() != "DoNotSchedule" && action.text() != "ScheduleAnyway") {
      errors.NotSupported(action.path(), action.text(),
                          {"DoNotSchedule", "ScheduleAnyway"});
    }
    if (const std::string kind = kind_of(constraint); --left[kind] > 0) {
      errors.Duplicate(constraint.path() + ".{topologyKey, whenUnsatisfiable}",
                       kind);
    }
    ValidateMinDomains(constraint["minDomains"], action.text(), errors);
    CheckOneOf(constraint["nodeAffinityPolicy"], {"Honor", "Ignore"}, errors);
    CheckOneOf(constraint["nodeTaintsPolicy"], {"Honor", "Ignore"}, errors);
    ValidateLabelKeys(constraint, errors);
    ValidateLabelSelector(constraint["labelSelector"].value(),
                          constraint["labelSelector"].path(), errors);
  }
}

std::string Join(const std::vector<std::string>& messages) {
  std::string all;
  for (const std::string& message : messages) {
    all.append(all.empty() ? "" : ";").append(message);
  }
  return all;
}

const std::vector<std::string>& Effects() {
  static const auto& effects = *new std::vector<std::string>{
      "NoSchedule", "PreferNoSchedule", "NoExecute"};
  return effects;
}

// Gt and Lt are alpha in v1.36: known, but off.
void ValidateOperator(const Field& toleration, FieldErrors& errors) {
  const Field op = toleration["operator"];
  const std::string value = toleration["value"].text();
  if (op.text().empty() || op.text() == "Equal") {
    if (const std::string why = Join(CheckLabelValue(value)); !why.empty()) {
      errors.Invalid(op.path(), value, why);
    }
  } else if (op.text() == "Exists") {
    if (value.empty()) return;
    errors.Invalid(op.path(), value,
                   "value must be empty when `operator` is 'Exists'");
  } else {
    std::vector<std::string> supported = {"Equal", "Exists"};
    if (op.text() == "Lt" || op.text() == "Gt") {
      supported.insert(supported.end(), {"Lt", "Gt"});
    }
    errors.NotSupported(op.path(), op.text(), supported);
  }
}

}  // namespace

void ValidateTolerations(const Field& tolerations, FieldErrors& errors) {
  for (const Field& toleration : tolerations.elements()) {
    const Field op = toleration["operator"];
    const Field effect = toleration["effect"];
    if (toleration["key"].exists()) {
      CheckKey(toleration["key"], errors);
    } else if (op.text() != "Exists") {
      errors.Invalid(op.path(), op.text(),
                     "operator must be Exists when `key` is empty, which means "
                     "\"match all values and all keys\"");
    }
    if (toleration["tolerationSeconds"].exists() &&
        effect.text() != "NoExecute") {
      errors.Invalid(
          effect.path(), effect.text(),
          "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    ValidateOperator(toleration, errors);
    CheckOneOf(effect, Effects(), errors);
  }
}

void ValidateTaints(const Field& taints, FieldErrors& errors) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const Field& taint : taints.elements()) {
    const Field value = taint["value"];
    const Field effect = taint["effect"];
    CheckKey(taint["key"], errors);
    if (const std::string why = Join(CheckLabelValue(value.text()));
        !why.empty()) {
      errors.Invalid(value.path(), value.text(), why);
    }
    RequireOneOf(effect, Effects(), errors);
    if (!seen.emplace(taint["key"].text(), effect.text()).second) {
      // As upstream's internal type prints.
      errors.Add(
          "FieldValueDuplicate", taint.path(),
          "Duplicate value: {\"Key\":" + Json(taint["key"].text()).dump() +
              ",\"Value\":" + Json(value.text()).dump() +
              ",\"Effect\":" + Json(effect.text()).dump() +
              ",\"TimeAdded\":" + taint["timeAdded"].value().dump() +
              "}: taints must be unique by key and effect pair");
    }
  }
}

void ValidateScheduling(const Field& spec, FieldErrors& errors) {
  ValidateLabels(spec["nodeSelector"].value(), spec["nodeSelector"].path(),
                 errors);
  const Field affinity = spec["affinity"];
  ValidateNodeAffinity(affinity["nodeAffinity"], errors);
  ValidatePodAffinity(affinity["podAffinity"], errors);
  ValidatePodAffinity(affinity["podAntiAffinity"], errors);
  ValidateGates(spec["schedulingGates"], errors);
  ValidateSpreading(spec["topologySpreadConstraints"], errors);
  ValidateTolerations(spec["tolerations"], errors);
}

}  // namespace minisched::apiserver
