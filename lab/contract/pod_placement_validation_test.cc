// Validation of the fields that restrict a pod's placement.

#include "lab/contract/messages_testing.h"
#include "lab/contract/pod_testing.h"

namespace minisched {
namespace {

class PodPlacementValidationTest : public PodContractTest {
 protected:
  // Expects the server to reject a pod whose node affinity has only this
  // requirement. `kind` is "matchExpressions" or "matchFields". `error` is
  // relative to the requirement.
  void ExpectRequirementRefused(const std::string& kind,
                                const std::string& requirement,
                                const std::string& error) {
    const json required = {
        {"nodeSelectorTerms", {{{kind, {json::parse(requirement)}}}}}};
    const std::string path = "requiredDuringSchedulingIgnoredDuringExecution";
    EXPECT_THAT(Try({{"affinity", {{"nodeAffinity", {{path, required}}}}}}),
                Invalid("Pod", "p",
                        {"spec.affinity.nodeAffinity." + path +
                         ".nodeSelectorTerms[0]." + kind + "[0]." + error}))
        << requirement;
  }
};

TEST_F(PodPlacementValidationTest, RejectsInvalidNodeSelectors) {
  ExpectRefused({
      {R"({"nodeSelector": {"a b": "c"}})",
       {"spec.nodeSelector: Invalid value: \"a b\": " + kNoQualifiedName}},
      {R"({"nodeSelector": {"a": "b c"}})",
       {"spec.nodeSelector: Invalid value: \"b c\": " + kNoLabelValue}},
  });
}

TEST_F(PodPlacementValidationTest, RejectsInvalidNodeAffinityExpressions) {
  const std::string kind = "matchExpressions";
  ExpectRequirementRefused(kind, R"({"key": "k", "operator": "X"})",
                           "operator: Invalid value: \"X\": not a valid "
                           "selector operator");
  ExpectRequirementRefused(kind, R"({"key": "k", "operator": "In"})",
                           "values: Required value: must be specified when "
                           "`operator` is 'In' or 'NotIn'");
  ExpectRequirementRefused(
      kind, R"({"key": "k", "operator": "Exists", "values": ["v"]})",
      "values: Forbidden: may not be specified when `operator` is 'Exists' or "
      "'DoesNotExist'");
  ExpectRequirementRefused(
      kind, R"({"key": "k", "operator": "Gt", "values": ["1", "2"]})",
      "values: Required value: must be specified single value when `operator` "
      "is 'Lt' or 'Gt'");
  ExpectRequirementRefused(
      kind, R"({"key": "k", "operator": "In", "values": ["a b"]})",
      "values[0]: Invalid value: \"a b\": " + kNoLabelValue);
  ExpectRequirementRefused(kind, R"({"key": "a b", "operator": "Exists"})",
                           "key: Invalid value: \"a b\": " + kNoQualifiedName);
}

TEST_F(PodPlacementValidationTest, RejectsInvalidNodeAffinityTerms) {
  ExpectRefused({
      {R"({"affinity": {"nodeAffinity": {
           "requiredDuringSchedulingIgnoredDuringExecution":
             {"nodeSelectorTerms": []}}}})",
       {"spec.affinity.nodeAffinity."
        "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: "
        "Required value: must have at least one node selector term"}},
      {R"({"affinity": {"nodeAffinity": {
           "preferredDuringSchedulingIgnoredDuringExecution":
             [{"weight": 0, "preference": {}}]}}})",
       {"spec.affinity.nodeAffinity."
        "preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid "
        "value: 0: must be in the range 1-100"}},
  });
}

TEST_F(PodPlacementValidationTest, RejectsInvalidPodAffinity) {
  ExpectRefused({
      {R"({"affinity": {"podAntiAffinity": {
           "requiredDuringSchedulingIgnoredDuringExecution":
             [{"topologyKey": "a b", "labelSelector": {"matchExpressions":
               [{"key": "k", "operator": "In"}]}, "namespaces": ["A"]}]}}})",
       {"spec.affinity.podAntiAffinity."
        "requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector."
        "matchExpressions[0].values: Required value: must be specified when "
        "`operator` is 'In' or 'NotIn'",
        "spec.affinity.podAntiAffinity."
        "requiredDuringSchedulingIgnoredDuringExecution[0].namespace: Invalid "
        "value: \"A\": " +
            kNoDnsLabel,
        "spec.affinity.podAntiAffinity."
        "requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: "
        "Invalid value: \"a b\": " +
            kNoQualifiedName}},
      {R"({"affinity": {"podAffinity": {
           "preferredDuringSchedulingIgnoredDuringExecution":
             [{"weight": 101, "podAffinityTerm": {"topologyKey": "h"}}]}}})",
       {"spec.affinity.podAffinity."
        "preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid "
        "value: 101: must be in the range 1-100"}},
  });
}

TEST_F(PodPlacementValidationTest, RejectsInvalidTopologySpread) {
  const std::string first = "spec.topologySpreadConstraints[0].";
  ExpectRefused({
      {R"({"topologySpreadConstraints": [{"maxSkew": 0, "topologyKey": "",
           "whenUnsatisfiable": "X"}]})",
       {first + "maxSkew: Invalid value: 0: must be greater than zero",
        first + "topologyKey: Required value: can not be empty",
        first + "whenUnsatisfiable: Unsupported value: \"X\": supported "
                "values: \"DoNotSchedule\", \"ScheduleAnyway\""}},
      {R"({"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "z",
           "whenUnsatisfiable": "ScheduleAnyway", "minDomains": 2}]})",
       {first + "minDomains: Invalid value: 2: can only use minDomains if "
                "whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway"}},
  });
}

TEST_F(PodPlacementValidationTest, RejectsInvalidTolerations) {
  const std::string first = "spec.tolerations[0].";
  ExpectRefused({
      {R"({"tolerations": [{"key": "k", "operator": "X"}]})",
       {first + "operator: Unsupported value: \"X\": supported values: "
                "\"Equal\", \"Exists\""}},
      {R"({"tolerations": [{"key": "k", "operator": "Exists",
                            "value": "v"}]})",
       {first + "operator: Invalid value: \"v\": value must be empty when "
                "`operator` is 'Exists'"}},
      {R"({"tolerations": [{"operator": "Equal", "value": "v"}]})",
       {first + "operator: Invalid value: \"Equal\": operator must be Exists "
                "when `key` is empty, which means \"match all values and all "
                "keys\""}},
      {R"({"tolerations": [{"key": "k", "effect": "X"}]})",
       {first + "effect: Unsupported value: \"X\": supported values: "
                "\"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\""}},
      {R"({"tolerations": [{"key": "k", "tolerationSeconds": 5,
                            "effect": "NoSchedule"}]})",
       {first + "effect: Invalid value: \"NoSchedule\": effect must be "
                "'NoExecute' when `tolerationSeconds` is set"}},
      {R"({"tolerations": [{"key": "a b"}]})",
       {first + "key: Invalid value: \"a b\": " + kNoQualifiedName}},
      {R"({"tolerations": [{"key": "k", "value": "a b"}]})",
       {first + "operator: Invalid value: \"a b\": " + kNoLabelValue}},
  });
}

TEST_F(PodPlacementValidationTest, RejectsInvalidSchedulingGates) {
  ExpectRefused({
      {R"({"schedulingGates": [{"name": "A b"}]})",
       {"spec.schedulingGates[0]: Invalid value: \"A b\": " +
        kNoQualifiedName}},
      {R"({"schedulingGates": [{"name": "g"}, {"name": "g"}]})",
       {"spec.schedulingGates[1]: Duplicate value: \"g\""}},
      {R"({"schedulingGates": [{"name": "g"}], "nodeName": "n"})",
       {"spec.nodeName: Forbidden: cannot be set until all schedulingGates "
        "have been cleared"}},
  });
}

TEST_F(PodPlacementValidationTest, RejectsInvalidNodeAffinityFields) {
  const std::string kind = "matchFields";
  ExpectRequirementRefused(
      kind, R"({"key": "metadata.foo", "operator": "In", "values": ["a"]})",
      "key: Invalid value: \"metadata.foo\": not a valid field selector key");
  ExpectRequirementRefused(
      kind,
      R"({"key": "metadata.name", "operator": "In", "values": ["a", "b"]})",
      "values: Required value: must be only one value when `operator` is 'In' "
      "or 'NotIn' for node field selector");
}

}  // namespace
}  // namespace minisched
