#include <boost/algorithm/string/join.hpp>
#include <set>

#include "lab/apiserver/kinds/names.h"
#include "lab/apiserver/kinds/pod_validation.h"

namespace minisched::apiserver {
namespace {

constexpr char kRequired[] = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr char kPreferred[] = "preferredDuringSchedulingIgnoredDuringExecution";

void ValidateWeight(const Field& weight) {
  if (1 <= weight.number() && weight.number() <= 100) return;
  weight.Invalid(weight.number(), "must be in the range 1-100");
}

// Validates a requirement on a node's fields. The only supported field is
// metadata.name.
void ValidateFieldRequirement(const Field& requirement) {
  const Field op = requirement["operator"];
  const Field values = requirement["values"];
  if (op.text() != "In" && op.text() != "NotIn") {
    op.Invalid(op.text(), "not a valid selector operator");
  } else if (values.value().size() != 1) {
    values.Required(
        "must be only one value when `operator` is 'In' or 'NotIn' for node "
        "field selector");
  }
  if (const Field key = requirement["key"]; key.text() != "metadata.name") {
    return key.Invalid(key.text(), "not a valid field selector key");
  }
  for (const Field& value : values.elements()) {
    value.Conform(CheckDns1123Subdomain);
  }
}

void ValidateNodeTerm(const Field& term, bool required) {
  for (const Field& requirement : term["matchExpressions"].elements()) {
    ValidateRequirement(requirement, /*of_node=*/true, required);
  }
  for (const Field& requirement : term["matchFields"].elements()) {
    ValidateFieldRequirement(requirement);
  }
}

void ValidateNodeAffinity(const Field& affinity) {
  ValidateNodeSelector(affinity[kRequired]);
  for (const Field& preferred : affinity[kPreferred].elements()) {
    ValidateWeight(preferred["weight"]);
    ValidateNodeTerm(preferred["preference"], false);
  }
}

void ValidatePodTerm(const Field& term) {
  ValidateLabelSelector(term["labelSelector"]);
  ValidateLabelSelector(term["namespaceSelector"]);
  for (const Json& ns : term["namespaces"].value()) {
    term["namespace"].Conform(CheckDns1123Label, GetString(ns));
  }
  term["topologyKey"].Require("can not be empty");
  term["topologyKey"].Conform(CheckLabelKey);
}

void ValidatePodAffinity(const Field& affinity) {
  for (const Field& term : affinity[kRequired].elements()) {
    ValidatePodTerm(term);
  }
  for (const Field& preferred : affinity[kPreferred].elements()) {
    ValidateWeight(preferred["weight"]);
    ValidatePodTerm(preferred["podAffinityTerm"]);
  }
}

void ValidateGates(const Field& gates) {
  std::set<std::string> seen;
  for (const Field& gate : gates.elements()) {
    const std::string name = gate["name"].text();
    gate.Conform(CheckLabelKey, name);
    if (!seen.insert(name).second) gate.Duplicate(name);
  }
}

void ValidateSpreading(const Field& constraints) {
  for (const Field& constraint : constraints.elements()) {
    const Field action = constraint["whenUnsatisfiable"];
    const Field domains = constraint["minDomains"];
    constraint["maxSkew"].Positive();
    constraint["topologyKey"].Require("can not be empty");
    action.OneOf({"DoNotSchedule", "ScheduleAnyway"});
    if (domains.exists()) domains.Positive();
    if (domains.exists() && action.text() != "DoNotSchedule") {
      domains.Invalid(
          "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not " +
          action.text());
    }
    constraint["nodeAffinityPolicy"].OneOf({"Honor", "Ignore"});
    constraint["nodeTaintsPolicy"].OneOf({"Honor", "Ignore"});
    ValidateLabelSelector(constraint["labelSelector"]);
  }
}

// Validates the value of a toleration or taint. Adds all messages as one error
// about `field`.
void ValidateValue(const Field& value, const Field& field) {
  const auto messages = CheckLabelValue(value.text());
  if (messages.empty()) return;
  field.Invalid(value.text(), boost::algorithm::join(messages, ";"));
}

void ValidateEffect(const Field& effect) {
  effect.OneOf({"NoSchedule", "PreferNoSchedule", "NoExecute"});
}

void ValidateToleration(const Field& toleration) {
  const Field op = toleration["operator"];
  const Field value = toleration["value"];
  const Field effect = toleration["effect"];
  if (toleration["key"].exists()) {
    toleration["key"].Conform(CheckLabelKey);
  } else if (op.text() != "Exists") {
    op.Invalid(op.text(),
               "operator must be Exists when `key` is empty, which means "
               "\"match all values and all keys\"");
  }
  if (toleration["tolerationSeconds"].exists() &&
      effect.text() != "NoExecute") {
    effect.Invalid(effect.text(),
                   "effect must be 'NoExecute' when `tolerationSeconds` is "
                   "set");
  }
  if (!op.exists() || op.text() == "Equal") {
    ValidateValue(value, op);
  } else if (op.text() == "Exists" && value.exists()) {
    op.Invalid(value.text(), "value must be empty when `operator` is 'Exists'");
  }
  op.OneOf({"Equal", "Exists"});
  ValidateEffect(effect);
}

}  // namespace

void ValidateNodeSelector(const Field& selector) {
  if (!selector.exists()) return;
  const Field terms = selector["nodeSelectorTerms"];
  terms.Require("must have at least one node selector term");
  for (const Field& term : terms.elements()) ValidateNodeTerm(term, true);
}

void ValidateTaints(const Field& taints) {
  for (const Field& taint : taints.elements()) {
    taint["key"].Conform(CheckLabelKey);
    ValidateValue(taint["value"], taint["value"]);
    if (taint["effect"].Require()) ValidateEffect(taint["effect"]);
  }
}

void ValidateScheduling(const Field& spec) {
  const Field affinity = spec["affinity"];
  ValidateLabels(spec["nodeSelector"]);
  ValidateNodeAffinity(affinity["nodeAffinity"]);
  ValidatePodAffinity(affinity["podAffinity"]);
  ValidatePodAffinity(affinity["podAntiAffinity"]);
  ValidateGates(spec["schedulingGates"]);
  ValidateSpreading(spec["topologySpreadConstraints"]);
  for (const Field& toleration : spec["tolerations"].elements()) {
    ValidateToleration(toleration);
  }
}

}  // namespace minisched::apiserver
