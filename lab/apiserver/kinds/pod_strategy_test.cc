#include "lab/apiserver/kinds/strategy_testing.h"

namespace minisched::apiserver {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::StartsWith;

const Json& Web() {
  static const auto& pod = *new Json(R"({
    "metadata": {"name": "web", "labels": {"app": "web"}},
    "spec": {"containers": [{"name": "a", "image": "i"}]}})"_json);
  return pod;
}

class PodStrategyTest : public StrategyTest {
 protected:
  // Return Web() with its spec, or its first container, changed by a merge
  // patch.
  static Json WithSpec(const Json& spec) {
    return With(Web(), {{"spec", spec}});
  }
  static Json WithContainer(const Json& patch) {
    Json pod = Web();
    pod["spec"]["containers"][0].merge_patch(patch);
    return pod;
  }
  Json CreatePod(const Json& pod) { return Create("v1", "Pod", pod); }
  std::vector<std::string> PodErrors(const Json& pod) {
    return CreateErrors("v1", "Pod", pod);
  }
};

TEST_F(PodStrategyTest, NewPodsGetDefaults) {
  const Json pod = CreatePod(Web());
  EXPECT_EQ(pod["spec"], R"({
    "containers": [{"name": "a", "image": "i", "resources": {},
                    "imagePullPolicy": "Always",
                    "terminationMessagePath": "/dev/termination-log",
                    "terminationMessagePolicy": "File"}],
    "dnsPolicy": "ClusterFirst", "enableServiceLinks": true,
    "preemptionPolicy": "PreemptLowerPriority", "priority": 0,
    "restartPolicy": "Always", "schedulerName": "default-scheduler",
    "securityContext": {}, "terminationGracePeriodSeconds": 30,
    "tolerations": [
      {"key": "node.kubernetes.io/not-ready", "operator": "Exists",
       "effect": "NoExecute", "tolerationSeconds": 300},
      {"key": "node.kubernetes.io/unreachable", "operator": "Exists",
       "effect": "NoExecute", "tolerationSeconds": 300}]})"_json);
  EXPECT_EQ(pod["status"],
            R"({"phase": "Pending", "qosClass": "BestEffort"})"_json);
  EXPECT_EQ(pod["metadata"]["generation"], 1);
}

TEST_F(PodStrategyTest, DefaultsDependOnOtherFields) {
  Json pod = WithContainer(R"({
    "image": "r:5000/i:1", "resources": {"limits": {"cpu": "1"}},
    "ports": [{"containerPort": 80}]})"_json);
  pod["spec"].merge_patch(R"({
    "hostNetwork": true, "tolerations": [{"operator": "Exists"}]})"_json);
  const Json spec = CreatePod(pod)["spec"];
  const Json& container = spec["containers"][0];
  EXPECT_EQ(container["imagePullPolicy"], "IfNotPresent");
  EXPECT_EQ(container["resources"]["requests"], R"({"cpu": "1"})"_json);
  EXPECT_EQ(container["ports"][0], R"({"containerPort": 80, "hostPort": 80,
                                       "protocol": "TCP"})"_json);
  EXPECT_EQ(spec["tolerations"].size(), 1);
}

TEST_F(PodStrategyTest, QosClassFollowsFromRequestsAndLimits) {
  const struct {
    Json resources;
    std::string qos_class;
  } kCases[] = {
      {R"({})"_json, "BestEffort"},
      {R"({"limits": {"example.com/gpu": "1"}})"_json, "BestEffort"},
      {R"({"requests": {"cpu": "1"}})"_json, "Burstable"},
      {R"({"limits": {"cpu": "1"}})"_json, "Burstable"},
      {R"({"limits": {"cpu": "1", "memory": "1Gi"}})"_json, "Guaranteed"},
      {R"({"limits": {"cpu": "1", "memory": "1Gi"},
           "requests": {"cpu": "500m"}})"_json,
       "Burstable"},
  };
  int i = 0;
  for (const auto& [resources, qos_class] : kCases) {
    Json pod = WithContainer({{"resources", resources}});
    pod["metadata"]["name"] = "p" + std::to_string(i++);
    EXPECT_EQ(CreatePod(pod)["status"]["qosClass"], qos_class) << resources;
  }
}

TEST_F(PodStrategyTest, PriorityComesFromThePriorityClass) {
  const auto create_class = [&](const char* name, const Json& patch) {
    Create("scheduling.k8s.io/v1", "PriorityClass",
           With({{"metadata", {{"name", name}}}}, patch));
  };
  create_class("high", R"({"value": 1000, "preemptionPolicy": "Never"})"_json);
  Json pod = WithSpec({{"priorityClassName", "high"}});
  const Json high = CreatePod(pod)["spec"];
  EXPECT_EQ(high["priority"], 1000);
  EXPECT_EQ(high["preemptionPolicy"], "Never");

  pod["spec"]["priority"] = 3;
  EXPECT_THAT(PodErrors(pod),
              ElementsAre("403 pods \"web\" is forbidden: the integer value of "
                          "priority (3) must not be provided in pod spec; "
                          "priority admission controller computed 1000 from "
                          "the given PriorityClass name"));
  pod = R"({"metadata": {"generateName": "web-"},
            "spec": {"priorityClassName": "low"}})"_json;
  EXPECT_THAT(PodErrors(pod),
              ElementsAre("403 pods \"web-\" is forbidden: no PriorityClass "
                          "with name low was found"));

  create_class("usual", R"({"value": 7, "globalDefault": true})"_json);
  const Json usual = CreatePod(With(Web(), {{"metadata", {{"name", "b"}}}}));
  EXPECT_EQ(usual["spec"]["priority"], 7);
  EXPECT_EQ(usual["spec"]["priorityClassName"], "usual");
}

TEST_F(PodStrategyTest, NewPodsGetGatedConditionTopologyLabelsAndSelectors) {
  const Json gated =
      CreatePod(WithSpec(R"({"schedulingGates": [{"name": "g"}]})"_json));
  EXPECT_EQ(
      gated["status"]["conditions"],
      Json::array({{{"type", "PodScheduled"},
                    {"status", "False"},
                    {"reason", "SchedulingGated"},
                    {"message",
                     "Scheduling is blocked due to non-empty scheduling gates"},
                    {"lastProbeTime", nullptr},
                    {"lastTransitionTime", registry_.Now()}}}));

  Create("v1", "Node", R"({"metadata": {"name": "n", "labels": {
    "topology.kubernetes.io/zone": "z", "other": "x"}}})"_json);
  const Json placed = CreatePod(R"({
    "metadata": {"name": "placed"}, "spec": {"nodeName": "n",
      "containers": [{"name": "a", "image": "i"}]}})"_json);
  EXPECT_EQ(placed["metadata"]["labels"],
            R"({"topology.kubernetes.io/zone": "z"})"_json);

  const Json spread = CreatePod(With(WithSpec(R"({
    "topologySpreadConstraints": [{
      "maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule",
      "labelSelector": {}, "matchLabelKeys": ["app", "none"]}]})"_json),
                                     {{"metadata", {{"name", "spread"}}}}));
  EXPECT_EQ(spread["spec"]["topologySpreadConstraints"][0]["labelSelector"],
            R"({"matchExpressions": [
           {"key": "app", "operator": "In", "values": ["web"]}]})"_json);
}

struct InvalidSpec {
  Json spec;
  std::vector<std::string> errors;
};

// NOLINTBEGIN(bugprone-suspicious-missing-comma): the messages are long.

// Invalid specs with the errors of a real kube-apiserver v1.36.3.
const std::vector<InvalidSpec>& InvalidSpecs() {
  static const auto& specs = *new std::vector<InvalidSpec>{
      {R"({"containers": null})"_json, {"spec.containers: Required value"}},
      {R"({"containers": [{"name": "a"}, {"name": "a", "image": "i"}]})"_json,
       {"spec.containers[0].image: Required value",
        R"(spec.containers[1].name: Duplicate value: "a")"}},
      {R"({"initContainers": [{"name": "a", "image": "i",
                               "restartPolicy": "Odd"}]})"_json,
       {R"(spec.initContainers[0].restartPolicy: Unsupported value: "Odd": )"
        R"(supported values: "Always", "Never", "OnFailure")",
        R"(spec.initContainers[0].name: Duplicate value: "a")"}},
      {R"({"restartPolicy": "Odd"})"_json,
       {R"(spec.restartPolicy: Unsupported value: "Odd": supported values: )"
        R"("Always", "OnFailure", "Never")"}},
      {R"({"schedulingGates": [{"name": "a"}, {"name": "a"}],
           "nodeName": "n"})"_json,
       {R"(spec.schedulingGates[1]: Duplicate value: "a")",
        "spec.nodeName: Forbidden: cannot be set until all schedulingGates "
        "have been cleared"}},
      {R"({"affinity": {"nodeAffinity": {
           "requiredDuringSchedulingIgnoredDuringExecution":
             {"nodeSelectorTerms": []},
           "preferredDuringSchedulingIgnoredDuringExecution": [
             {"weight": 0, "preference": {"matchExpressions": [
               {"key": "a", "operator": "In"},
               {"key": "a", "operator": "Exists", "values": ["x"]},
               {"key": "a", "operator": "Gt", "values": ["1", "2"]},
               {"key": "a", "operator": "Is"}]}}]}}})"_json,
       {"spec.affinity.nodeAffinity."
        "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: "
        "Required value: must have at least one node selector term",
        "PREFERRED.weight: Invalid value: 0: must be in the range 1-100",
        "PREFERRED.preference.matchExpressions[0].values: Required value: must "
        "be specified when `operator` is 'In' or 'NotIn'",
        "PREFERRED.preference.matchExpressions[1].values: Forbidden: may not "
        "be specified when `operator` is 'Exists' or 'DoesNotExist'",
        "PREFERRED.preference.matchExpressions[2].values: Required value: must "
        "be specified single value when `operator` is 'Lt' or 'Gt'",
        "PREFERRED.preference.matchExpressions[3].operator: Invalid value: "
        "\"Is\": not a valid selector operator"}},
      {R"({"affinity": {"podAntiAffinity": {
           "requiredDuringSchedulingIgnoredDuringExecution": [
             {"topologyKey": "z", "labelSelector": {"matchExpressions": [
               {"key": "a", "operator": "Gt", "values": ["1"]}]}}]}}})"_json,
       {"REQUIRED[0].labelSelector.matchExpressions[0].operator: Invalid "
        "value: "
        "\"Gt\": not a valid selector operator"}},
      {R"({"topologySpreadConstraints": [
           {"maxSkew": 0, "topologyKey": "z", "whenUnsatisfiable": "Odd"},
           {"maxSkew": 1, "topologyKey": "z", "minDomains": 2,
            "whenUnsatisfiable": "ScheduleAnyway"},
           {"maxSkew": 1, "topologyKey": "z", "nodeTaintsPolicy": "Odd",
            "whenUnsatisfiable": "ScheduleAnyway"}]})"_json,
       {"SPREAD[0].maxSkew: Invalid value: 0: must be greater than zero",
        R"(SPREAD[0].whenUnsatisfiable: Unsupported value: "Odd": supported )"
        R"(values: "DoNotSchedule", "ScheduleAnyway")",
        "SPREAD[1].minDomains: Invalid value: 2: can only use minDomains if "
        "whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway",
        R"(SPREAD[2].nodeTaintsPolicy: Unsupported value: "Odd": supported )"
        R"(values: "Honor", "Ignore")"}},
      {R"({"tolerations": [
           {"operator": "Equal"},
           {"key": "a", "operator": "Exists", "value": "x"},
           {"key": "a", "operator": "Odd", "effect": "Odd"},
           {"key": "a", "tolerationSeconds": 1}]})"_json,
       {"spec.tolerations[0].operator: Invalid value: \"Equal\": operator must "
        "be Exists when `key` is empty, which means \"match all values and all "
        "keys\"",
        "spec.tolerations[1].operator: Invalid value: \"x\": value must be "
        "empty when `operator` is 'Exists'",
        R"(spec.tolerations[2].operator: Unsupported value: "Odd": supported )"
        R"(values: "Equal", "Exists")",
        R"(spec.tolerations[2].effect: Unsupported value: "Odd": supported )"
        R"(values: "NoSchedule", "PreferNoSchedule", "NoExecute")",
        "spec.tolerations[3].effect: Invalid value: \"\": effect must be "
        "'NoExecute' when `tolerationSeconds` is set"}},
  };
  return specs;
}

// Replaces an abbreviation at the start of the error by the path.
std::string WithFullPath(std::string error) {
  const std::pair<std::string, std::string> kPaths[] = {
      {"PREFERRED",
       "spec.affinity.nodeAffinity."
       "preferredDuringSchedulingIgnoredDuringExecution[0]"},
      {"REQUIRED",
       "spec.affinity.podAntiAffinity."
       "requiredDuringSchedulingIgnoredDuringExecution"},
      {"SPREAD", "spec.topologySpreadConstraints"}};
  for (const auto& [name, path] : kPaths) {
    if (error.starts_with(name)) error.replace(0, name.size(), path);
  }
  return error;
}

TEST_F(PodStrategyTest, RefusesInvalidSpecs) {
  for (InvalidSpec test : InvalidSpecs()) {
    for (std::string& error : test.errors) error = WithFullPath(error);
    EXPECT_THAT(PodErrors(WithSpec(test.spec)), ElementsAreArray(test.errors))
        << test.spec;
  }
}

TEST_F(PodStrategyTest, RefusesInvalidContainers) {
  const InvalidSpec kCases[] = {
      {R"({"imagePullPolicy": "Odd"})"_json,
       {R"(imagePullPolicy: Unsupported value: "Odd": supported values: )"
        R"("Always", "IfNotPresent", "Never")"}},
      {R"({"ports": [{"containerPort": 70000}, {"hostPort": 1}]})"_json,
       {"ports[0].containerPort: Invalid value: 70000: must be between 1 and "
        "65535, inclusive",
        "ports[1].containerPort: Required value"}},
      {R"({"resources": {"limits": {"cpu": "1", "gpu": "1", "e.com/x": "2"},
                         "requests": {"cpu": "2", "memory": "-1",
                                      "e.com/x": "1", "e.com/y": "500m"}}}
       )"_json,
       {R"(resources.limits[gpu]: Invalid value: "gpu": must be a standard )"
        R"(resource type or fully qualified)",
        R"(resources.limits[gpu]: Invalid value: "gpu": must be a standard )"
        R"(resource for containers)",
        R"(resources.requests[e.com/y]: Invalid value: "500m": must be an )"
        R"(integer)",
        // A resource with only a limit gets a request by default.
        R"(resources.requests[gpu]: Invalid value: "gpu": must be a standard )"
        R"(resource type or fully qualified)",
        R"(resources.requests[gpu]: Invalid value: "gpu": must be a standard )"
        R"(resource for containers)",
        R"(resources.requests[memory]: Invalid value: "-1": must be greater )"
        R"(than or equal to 0)",
        R"(resources.requests: Invalid value: "2": must be less than or equal )"
        R"(to cpu limit of 1)",
        R"(resources.requests: Invalid value: "1": must be equal to e.com/x )"
        R"(limit of 2)",
        "resources.limits: Required value: Limit must be set for non "
        "overcommitable resources"}},
  };
  for (InvalidSpec test : kCases) {
    for (std::string& error : test.errors) {
      error = "spec.containers[0]." + error;
    }
    EXPECT_THAT(PodErrors(WithContainer(test.spec)),
                testing::UnorderedElementsAreArray(test.errors))
        << test.spec;
  }
}

// NOLINTEND(bugprone-suspicious-missing-comma)

TEST_F(PodStrategyTest, UpdatesMayChangeOnlySomeFields) {
  const Json pod = CreatePod(WithSpec({{"activeDeadlineSeconds", 5}}));
  const Json changed = Update(pod, R"({
    "metadata": {"labels": {"new": "x"}},
    "spec": {"activeDeadlineSeconds": 3, "priority": null},
    "status": {"phase": "Running"}})"_json);
  EXPECT_EQ(changed["spec"]["activeDeadlineSeconds"], 3);
  EXPECT_EQ(changed["spec"]["priority"], 0);
  EXPECT_EQ(changed["metadata"]["generation"], 2);
  EXPECT_EQ(changed["status"]["phase"], "Pending");

  const struct {
    Json spec;
    std::string error;
  } kCases[] = {
      {R"({"nodeName": "n"})"_json,
       "spec: Forbidden: pod updates may not change fields other than "
       "`spec.containers[*].image`,`spec.initContainers[*].image`,"
       "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to "
       "existing tolerations),`spec.terminationGracePeriodSeconds` (allow it "
       "to be set to 1 if it was previously negative)\n"},
      {R"({"nodeSelector": {"a": "b"}})"_json, "spec: Forbidden: pod updates "},
      {R"({"containers": []})"_json, "spec.containers: Required value"},
      {R"({"tolerations": [{"operator": "Exists"}]})"_json,
       "spec.tolerations: Forbidden: existing toleration can not be modified "
       "except its tolerationSeconds"},
      {R"({"schedulingGates": [{"name": "g"}]})"_json,
       "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but "
       "found new scheduling gate 'g'"},
  };
  for (const auto& [spec, error] : kCases) {
    const auto errors = UpdateErrors(pod, {{"spec", spec}});
    ASSERT_FALSE(errors.empty()) << spec;
    EXPECT_THAT(errors[0], StartsWith(error)) << spec;
  }
}

// The JSON library would take long to compute the difference of long specs.
TEST_F(PodStrategyTest, ErrorsOmitTheDifferenceOfLongSpecs) {
  const Json pod = CreatePod(WithSpec(Json::object()));
  const auto error = [&](std::size_t length) {
    return UpdateErrors(
        pod, {{"spec", {{"schedulerName", std::string(length, 'a')}}}});
  };
  EXPECT_THAT(error(10'000), ElementsAre(testing::EndsWith("aaa\"}]")));
  EXPECT_THAT(
      error(40'000),
      ElementsAre(testing::EndsWith("if it was previously negative)\n")));
}

TEST_F(PodStrategyTest, AGatedPodMayChangeItsNodeSelection) {
  const Json pod = CreatePod(WithSpec(R"({
    "schedulingGates": [{"name": "a"}, {"name": "b"}]})"_json));
  const Json changed = Update(pod, R"({"spec": {
    "schedulingGates": [{"name": "b"}], "nodeSelector": {"a": "b"},
    "affinity": {"nodeAffinity": {
      "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "x", "operator": "Exists"}]}]}}}}}
    )"_json);
  EXPECT_EQ(changed["spec"]["schedulingGates"].size(), 1);
  EXPECT_EQ(changed["spec"]["nodeSelector"], R"({"a": "b"})"_json);
  EXPECT_EQ(changed["metadata"]["generation"], 2);
  EXPECT_THAT(UpdateErrors(pod, R"({"spec": {"schedulerName": "x"}})"_json),
              ElementsAre(StartsWith("spec: Forbidden: pod updates ")));
}

TEST_F(PodStrategyTest, StatusUpdatesChangeOnlyTheStatus) {
  const Json pod = CreatePod(WithSpec({{"nodeName", "n"}}));
  const Json changed = Update(pod, R"({
    "spec": {"nodeName": "other"},
    "status": {"phase": "Running", "qosClass": "Burstable", "conditions": [
      {"type": "Ready", "status": "True", "observedGeneration": 1}]}})"_json,
                              "status");
  EXPECT_EQ(changed["spec"], pod["spec"]);
  EXPECT_EQ(changed["metadata"]["generation"], 1);
  EXPECT_EQ(changed["status"]["phase"], "Running");
  EXPECT_EQ(changed["status"]["qosClass"], "BestEffort");
}

TEST_F(PodStrategyTest, AHugeGracePeriodCanBeShortened) {
  CreatePod(WithSpec({{"nodeName", "n"}}));
  const ResourceRow& pods = *FindKind("v1", "Pod");
  registry_.Delete(pods, "t", "web", {.grace_period = 300'000'000'000});
  EXPECT_TRUE(IsTerminating(*registry_.Get(pods, "t", "web")));
  EXPECT_TRUE(registry_.Delete(pods, "t", "web", {.grace_period = 0}).gone);
}

TEST_F(PodStrategyTest, GracePeriodFollowsFromThePodAndTheRequest) {
  const Strategy& strategy = *FindKind("v1", "Pod")->strategy;
  Json pod = R"({"spec": {"nodeName": "n",
                          "terminationGracePeriodSeconds": 30}})"_json;
  EXPECT_EQ(strategy.GracePeriod(pod, std::nullopt), 30);
  EXPECT_EQ(strategy.GracePeriod(pod, 5), 5);
  EXPECT_EQ(strategy.GracePeriod(pod, -1), 1);
  pod["status"]["phase"] = "Failed";
  EXPECT_EQ(strategy.GracePeriod(pod, 5), 0);
  pod = R"({"spec": {"terminationGracePeriodSeconds": 30}})"_json;
  EXPECT_EQ(strategy.GracePeriod(pod, 5), 0);
}

}  // namespace
}  // namespace minisched::apiserver
