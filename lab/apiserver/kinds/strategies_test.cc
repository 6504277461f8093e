#include "lab/apiserver/kinds/strategies.h"

#include "lab/apiserver/kinds/strategy_testing.h"

namespace minisched::apiserver {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;
using testing::StartsWith;

class StrategiesTest : public StrategyTest {
 protected:
  static Json Workload(const Json& spec = Json::object()) {
    return With(R"({
      "metadata": {"name": "web"},
      "spec": {"selector": {"matchLabels": {"app": "web"}},
               "template": {"metadata": {"labels": {"app": "web"}},
                            "spec": {"containers": [
                              {"name": "a", "image": "i"}]}}}})"_json,
                {{"spec", spec}});
  }
};

TEST_F(StrategiesTest, WorkloadsGetDefaults) {
  const struct {
    std::string kind;
    Json spec;
  } kCases[] = {
      {"Deployment", R"({"replicas": 1, "revisionHistoryLimit": 10,
         "progressDeadlineSeconds": 600, "strategy": {"type": "RollingUpdate",
           "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}}
       )"_json},
      {"ReplicaSet", R"({"replicas": 1})"_json},
  };
  for (const auto& [kind, expected] : kCases) {
    Json spec = Create("apps/v1", kind, Workload())["spec"];
    EXPECT_EQ(spec["template"]["spec"]["restartPolicy"], "Always");
    EXPECT_FALSE(spec["template"]["spec"].contains("enableServiceLinks"));
    spec.erase("template");
    spec.erase("selector");
    EXPECT_EQ(spec, expected) << kind;
  }
}

TEST_F(StrategiesTest, RefusesInvalidWorkloads) {
  const struct {
    std::string kind;
    Json spec;
    std::vector<std::string> errors;
  } kCases[] = {
      {"Deployment",
       R"({"selector": null, "replicas": -1})"_json,
       {"spec.replicas: Invalid value: -1: must be greater than or equal to 0",
        "spec.selector: Required value",
        "spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: "
        "`selector` does not match template `labels`"}},
      {"ReplicaSet",
       R"({"selector": {"matchLabels": null}})"_json,
       {"spec.selector: Invalid value: {}: empty selector is invalid for "
        "deployment"}},
      {"Deployment",
       R"({"template": {"spec": {"restartPolicy": "Never",
           "containers": []}}})"_json,
       {"spec.template.spec.containers: Required value",
        R"(spec.template.spec.restartPolicy: Unsupported value: "Never": )"
        R"(supported values: "Always")"}},
      {"Deployment",
       R"({"strategy": {"rollingUpdate": {"maxUnavailable": "101%",
                                        "maxSurge": "x"}}})"_json,
       {"spec.strategy.rollingUpdate.maxUnavailable: Invalid value: \"101%\": "
        "must not be greater than 100%",
        "spec.strategy.rollingUpdate.maxSurge: Invalid value: \"x\": a valid "
        "percent string must be a numeric string followed by an ending '%' "
        "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"}},
  };
  for (const auto& [kind, spec, errors] : kCases) {
    EXPECT_THAT(CreateErrors("apps/v1", kind, Workload(spec)),
                ElementsAreArray(errors))
        << kind << spec;
  }
}

TEST_F(StrategiesTest, WorkloadUpdatesRefuseANewSelectorAndCountGenerations) {
  const Json deployment = Create("apps/v1", "Deployment", Workload());
  EXPECT_THAT(UpdateErrors(deployment, R"({"spec": {"selector": {
                "matchLabels": {"b": "c"}}}})"_json),
              Contains("spec.selector: Invalid value: {\"matchLabels\":{"
                       "\"app\":\"web\",\"b\":\"c\"}}: field is immutable"));
  Update(deployment, R"({"metadata": {"labels": {"a": "b"}}})"_json);
  EXPECT_EQ(Stored(deployment)["metadata"]["generation"], 1);
  Update(deployment, R"({"metadata": {"annotations": {"a": "b"}}})"_json);
  EXPECT_EQ(Stored(deployment)["metadata"]["generation"], 2);
  Update(deployment, R"({"spec": {"replicas": 2}})"_json);
  EXPECT_EQ(Stored(deployment)["metadata"]["generation"], 3);
}

TEST_F(StrategiesTest, NodesGetDefaultsAndAreValidated) {
  const Json node = Create("v1", "Node", R"({
    "metadata": {"name": "n"},
    "status": {"capacity": {"cpu": "4"}}})"_json);
  EXPECT_EQ(node["status"]["allocatable"], R"({"cpu": "4"})"_json);
  EXPECT_THAT(
      UpdateErrors(node, R"({"spec": {"taints": [
        {"key": "k", "effect": "NoSchedule"},
        {"key": "k", "effect": "Odd"}, {"key": "k", "value": "-"}]}})"_json),
      ElementsAre(
          R"(metadata.taints[1].effect: Unsupported value: "Odd": supported )"
          R"(values: "NoSchedule", "PreferNoSchedule", "NoExecute")",
          StartsWith("metadata.taints[2].value: Invalid value: \"-\": "),
          "metadata.taints[2].effect: Required value"));
  EXPECT_THAT(UpdateErrors(node, R"({"status": {"capacity": {
                "cpu": "-1", "pods": "1500m"}}})"_json,
                           "status"),
              ElementsAre("status.capacity.cpu: Invalid value: \"-1\": must be "
                          "greater than or equal to 0",
                          "status.capacity.pods: Invalid value: \"1500m\": "
                          "must be an integer"));
  const Json changed = Update(node, R"({
    "spec": {"unschedulable": true}, "status": {"capacity": null}})"_json);
  EXPECT_EQ(changed["spec"]["unschedulable"], true);
  EXPECT_EQ(changed["status"], node["status"]);
}

TEST_F(StrategiesTest, ANamespaceStaysUntilItIsFinalized) {
  const ResourceRow& row = *FindKind("v1", "Namespace");
  const Json space =
      Create("v1", "Namespace", R"({"metadata": {"generateName": "x-"}})"_json);
  EXPECT_EQ(space["spec"], R"({"finalizers": ["kubernetes"]})"_json);
  EXPECT_EQ(space["status"], R"({"phase": "Active"})"_json);
  EXPECT_EQ(space["metadata"]["labels"]["kubernetes.io/metadata.name"],
            NameOf(space));

  const Json finalize = R"({"spec": {"finalizers": []}})"_json;
  Update(space, finalize);
  EXPECT_EQ(Stored(space), space);
  EXPECT_FALSE(registry_.Delete(row, "", NameOf(space)).gone);
  EXPECT_EQ(Stored(space)["status"]["phase"], "Terminating");
  Update(space, finalize, "finalize");
  EXPECT_THAT(Errors([&] { Stored(space); }), ElementsAre(StartsWith("404 ")));
}

TEST_F(StrategiesTest, SystemNamespacesCannotBeDeleted) {
  Create("v1", "Namespace", R"({"metadata": {"name": "default"}})"_json);
  EXPECT_THAT(Errors([&] {
                registry_.Delete(*FindKind("v1", "Namespace"), "", "default");
              }),
              ElementsAre("403 namespaces \"default\" is forbidden: this "
                          "namespace may not be deleted"));
}

TEST_F(StrategiesTest, RefusesInvalidObjects) {
  const struct {
    std::string api_version;
    std::string kind;
    Json object;
    std::vector<std::string> errors;
  } kCases[] = {
      {"scheduling.k8s.io/v1",
       "PriorityClass",
       R"({"value": 1000000001, "preemptionPolicy": "Odd"})"_json,
       {"value: Forbidden: maximum allowed value of a user defined priority is "
        "1000000000",
        R"(preemptionPolicy: Unsupported value: "Odd": supported values: )"
        R"("PreemptLowerPriority", "Never")"}},
      {"scheduling.k8s.io/v1",
       "PriorityClass",
       R"({"metadata": {"name": "system-x"}})"_json,
       {"metadata.name: Forbidden: priority class names with 'system-' prefix "
        "are reserved for system use only. error: system-x is not a known "
        "system priority class"}},
      {"policy/v1",
       "PodDisruptionBudget",
       R"({"spec": {"minAvailable": 1, "maxUnavailable": "x"}})"_json,
       {"spec: Invalid value: {\"maxUnavailable\":\"x\",\"minAvailable\":1}: "
        "minAvailable and maxUnavailable cannot be both set",
        "spec.maxUnavailable: Invalid value: \"x\": a valid percent string "
        "must be a numeric string followed by an ending '%' (e.g. '1%',  or "
        "'93%', regex used for validation is '[0-9]+%')"}},
      {"coordination.k8s.io/v1",
       "Lease",
       R"({"spec": {"leaseDurationSeconds": 0, "leaseTransitions": -1}})"_json,
       {"spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
        "spec.leaseTransitions: Invalid value: -1: must be greater than or "
        "equal to 0"}},
      {"v1",
       "Event",
       R"({"involvedObject": {"namespace": "other"}})"_json,
       {"involvedObject.namespace: Invalid value: \"other\": does not match "
        "event.namespace"}},
  };
  for (const auto& [api_version, kind, object, errors] : kCases) {
    EXPECT_THAT(
        CreateErrors(api_version, kind,
                     With(R"({"metadata": {"name": "x"}})"_json, object)),
        ElementsAreArray(errors))
        << kind << object;
  }
}

TEST_F(StrategiesTest, PriorityClassUpdatesRefuseANewValueOrPolicy) {
  const std::string version = "scheduling.k8s.io/v1";
  const Json first = Create(version, "PriorityClass",
                            R"({"metadata": {"name": "a"}, "value": 5,
                                "globalDefault": true})"_json);
  EXPECT_EQ(first["preemptionPolicy"], "PreemptLowerPriority");
  EXPECT_EQ(first["metadata"]["generation"], 1);
  EXPECT_THAT(
      UpdateErrors(first, R"({"value": 6, "preemptionPolicy": "Never"})"_json),
      ElementsAre("value: Forbidden: may not be changed in an update.",
                  "preemptionPolicy: Invalid value: \"Never\": field is "
                  "immutable"));
}

TEST_F(StrategiesTest, OtherKindsGetNoDefaults) {
  const Json service = Create("v1", "Service", R"({
    "metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}})"_json);
  EXPECT_EQ(service["spec"], R"({"ports": [{"port": 80, "targetPort": 0}]}
            )"_json);
  Update(service, R"({"status": {"loadBalancer": {"ingress": [{"ip": "i"}]}}}
         )"_json);
  EXPECT_EQ(Stored(service), service);
}

}  // namespace
}  // namespace minisched::apiserver
