// Validation of pods: invalid specs and the server's errors.

#include "lab/contract/messages_testing.h"
#include "lab/contract/pod_testing.h"

namespace minisched {
namespace {

using PodValidationTest = PodContractTest;

TEST_F(PodValidationTest, RejectsMissingAndDuplicateContainers) {
  ExpectRefused({
      {R"({"containers": []})", {"spec.containers: Required value"}},
      {R"({"containers": null})", {"spec.containers: Required value"}},
      {R"({"containers": [{"name": "c", "image": "i"},
                          {"name": "c", "image": "i"}]})",
       {"spec.containers[1].name: Duplicate value: \"c\""}},
      {R"({"initContainers": [{"name": "c", "image": "i"}]})",
       {"spec.initContainers[0].name: Duplicate value: \"c\""}},
  });
}

TEST_F(PodValidationTest, RejectsInvalidContainerFields) {
  ExpectContainersRefused({
      {R"({"image": null})", {"image: Required value"}},
      {R"({"name": null})", {"name: Required value"}},
      {R"({"name": "C_"})", {"name: Invalid value: \"C_\": " + kNoDnsLabel}},
      {R"({"imagePullPolicy": "Nope"})",
       {"imagePullPolicy: Unsupported value: \"Nope\": supported values: "
        "\"Always\", \"IfNotPresent\", \"Never\""}},
  });
}

TEST_F(PodValidationTest, HostNetworkPortsMustMatch) {
  json spec = R"({"hostNetwork": true, "containers": [{"name": "c",
      "image": "i", "ports": [{"containerPort": 80},
                              {"containerPort": 81, "hostPort": 81}]}]})"_json;
  EXPECT_THAT(Try(spec), Answers(201));
  spec["containers"][0]["ports"][1]["hostPort"] = 82;
  EXPECT_THAT(Try(spec),
              Invalid("Pod", "p",
                      {"spec.containers[0].ports[1].hostPort: Invalid value: "
                       "82: must match `containerPort` when `hostNetwork` is "
                       "true"}));
  // The ports of init containers may differ.
  spec["initContainers"] = spec["containers"];
  spec["initContainers"][0]["name"] = "i";
  spec["containers"][0].erase("ports");
  EXPECT_THAT(Try(spec), Answers(201));
}

TEST_F(PodValidationTest, ReportsAllErrorsAtOnce) {
  ExpectRefused({{R"({"restartPolicy": "X", "containers": [{}]})",
                  {"spec.containers[0].name: Required value",
                   "spec.containers[0].image: Required value",
                   "spec.restartPolicy: Unsupported value: \"X\": supported "
                   "values: \"Always\", \"OnFailure\", \"Never\""}}});
}

TEST_F(PodValidationTest, ListsSeveralErrorsInBrackets) {
  EXPECT_THAT(Try(R"({"containers": []})"_json),
              Refuses(422, "Invalid",
                      "Pod \"p\" is invalid: spec.containers: Required value"));
  EXPECT_THAT(Try(R"({"containers": [{}]})"_json),
              Refuses(422, "Invalid",
                      "Pod \"p\" is invalid: [spec.containers[0].name: "
                      "Required value, spec.containers[0].image: Required "
                      "value]"));
}

TEST_F(PodValidationTest, EachCauseHasAReason) {
  const auto reason_is = [](const char* reason) {
    return Answers(422, {{"details", {{"causes", {{{"reason", reason}}}}}}});
  };
  EXPECT_THAT(Try({{"containers", json::array()}}),
              reason_is("FieldValueRequired"));
  EXPECT_THAT(Try({{"nodeName", "A b"}}), reason_is("FieldValueInvalid"));
  EXPECT_THAT(Try({{"restartPolicy", "X"}}),
              reason_is("FieldValueNotSupported"));
  EXPECT_THAT(
      Try(R"({"schedulingGates": [{"name": "g"}, {"name": "g"}]})"_json),
      reason_is("FieldValueDuplicate"));
  EXPECT_THAT(
      Try(R"({"nodeName": "n", "schedulingGates": [{"name": "g"}]})"_json),
      reason_is("FieldValueForbidden"));
}

TEST_F(PodValidationTest, RejectsInvalidQuantities) {
  for (const std::string quantity : {"1x", "", "1 Gi", "one", "1e"}) {
    EXPECT_THAT(
        TryContainer({{"resources", {{"requests", {{"cpu", quantity}}}}}}),
        Refuses(400, "BadRequest",
                testing::StartsWith("Pod in version \"v1\" cannot be "
                                    "handled as a Pod: ")))
        << quantity;
  }
  EXPECT_THAT(
      TryContainer(R"({"resources": {"requests": {"cpu": "1x"}}})"_json),
      Refuses(400, "BadRequest",
              "Pod in version \"v1\" cannot be handled as a Pod: quantities "
              "must match the regular expression "
              "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"));
}

TEST_F(PodValidationTest, RejectsInvalidResources) {
  ExpectContainersRefused({
      {R"({"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}})",
       {"resources.requests: Invalid value: \"2\": must be less than or equal "
        "to cpu limit of 1"}},
      {R"({"resources": {"requests": {"cpu": "-1"}}})",
       {"resources.requests[cpu]: Invalid value: \"-1\": must be greater than "
        "or equal to 0"}},
      {R"({"resources": {"requests": {"foo": "1"}}})",
       {"resources.requests[foo]: Invalid value: \"foo\": must be a standard "
        "resource type or fully qualified",
        "resources.requests[foo]: Invalid value: \"foo\": must be a standard "
        "resource for containers"}},
      {R"({"resources": {"requests": {"pods": "1"}}})",
       {"resources.requests[pods]: Invalid value: \"pods\": must be a standard "
        "resource for containers"}},
      {R"({"resources": {"requests": {"x.y/z": "1"}}})",
       {"resources.limits: Required value: Limit must be set for non "
        "overcommitable resources"}},
      {R"({"resources": {"limits": {"x.y/z": "1.5"}}})",
       {"resources.limits[x.y/z]: Invalid value: \"1500m\": must be an integer",
        "resources.requests[x.y/z]: Invalid value: \"1500m\": must be an "
        "integer"}},
      {R"({"resources": {"limits": {"x.y/z": "2"},
                         "requests": {"x.y/z": "1"}}})",
       {"resources.requests: Invalid value: \"1\": must be equal to x.y/z "
        "limit of 2"}},
  });
}

TEST_F(PodValidationTest, RejectsInvalidPorts) {
  ExpectContainersRefused({
      {R"({"ports": [{}]})", {"ports[0].containerPort: Required value"}},
      {R"({"ports": [{"containerPort": 70000}]})",
       {"ports[0].containerPort: Invalid value: 70000: must be between 1 and "
        "65535, inclusive"}},
      {R"({"ports": [{"containerPort": 80, "protocol": "X"}]})",
       {"ports[0].protocol: Unsupported value: \"X\": supported values: "
        "\"SCTP\", \"TCP\", \"UDP\""}},
  });
}

TEST_F(PodValidationTest, RejectsAnInvalidNodeName) {
  ExpectRefused({
      {R"({"nodeName": "A b"})",
       {"spec.nodeName: Invalid value: \"A b\": " + kNoSubdomain}},
  });
}

// The Priority admission plugin rejects these pods before validation.
TEST_F(PodValidationTest, RejectsPrioritiesThatContradictTheClass) {
  const auto forbidden = [](const std::string& message) {
    return Refuses(403, "Forbidden", "pods \"p\" is forbidden: " + message,
                   {{"name", "p"}, {"kind", "pods"}});
  };
  EXPECT_THAT(Try({{"priorityClassName", "missing"}}),
              forbidden("no PriorityClass with name missing was found"));
  EXPECT_THAT(Try({{"priority", 5}}),
              forbidden("the integer value of priority (5) must not be "
                        "provided in pod spec; priority admission controller "
                        "computed 0 from the given PriorityClass name"));
  EXPECT_THAT(
      Try({{"preemptionPolicy", "Never"}}),
      forbidden("the string value of PreemptionPolicy (Never) must not be "
                "provided in pod spec; priority admission controller computed "
                "PreemptLowerPriority from the given PriorityClass name"));
}

}  // namespace
}  // namespace minisched
