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
  // Returns Web() with its spec changed by a merge patch.
  static Json WithSpec(const Json& spec) {
    return With(Web(), {{"spec", spec}});
  }
  Json CreatePod(const Json& pod) { return Create("v1", "Pod", pod); }
  std::vector<std::string> PodErrors(const Json& pod) {
    return CreateErrors("v1", "Pod", pod);
  }
};

TEST_F(PodStrategyTest, NewPodsGetTopologyLabelsAndSelectors) {
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

// The errors are those of a real kube-apiserver v1.37.2.
TEST_F(PodStrategyTest, RefusesInvalidSpecs) {
  const struct {
    Json spec;
    std::vector<std::string> errors;
  } kCases[] = {
      {R"({"initContainers": [{"name": "a", "image": "i",
                               "restartPolicy": "Odd"}]})"_json,
       {R"(spec.initContainers[0].restartPolicy: Unsupported value: "Odd": )"
        R"(supported values: "Always", "Never", "OnFailure")",
        R"(spec.initContainers[0].name: Duplicate value: "a")"}},
      {R"({"affinity": {"nodeAffinity": {
           "preferredDuringSchedulingIgnoredDuringExecution": [
             {"weight": 1, "preference": {"matchExpressions": [
               {"key": "a", "operator": "Is"}]}}]}}})"_json,
       {"spec.affinity.nodeAffinity."
        "preferredDuringSchedulingIgnoredDuringExecution[0].preference."
        "matchExpressions[0].operator: Invalid value: \"Is\": not a valid "
        "selector operator"}},
      {R"({"affinity": {"podAntiAffinity": {
           "requiredDuringSchedulingIgnoredDuringExecution": [
             {"topologyKey": "z", "labelSelector": {"matchExpressions": [
               {"key": "a", "operator": "Gt", "values": ["1"]}]}}]}}})"_json,
       {"spec.affinity.podAntiAffinity."
        "requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector."
        "matchExpressions[0].operator: Invalid value: \"Gt\": not a valid "
        "selector operator"}},
      {R"({"topologySpreadConstraints": [
           {"maxSkew": 1, "topologyKey": "z", "nodeTaintsPolicy": "Odd",
            "whenUnsatisfiable": "ScheduleAnyway"}]})"_json,
       {"spec.topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported "
        R"(value: "Odd": supported values: "Honor", "Ignore")"}},
  };
  for (const auto& [spec, errors] : kCases) {
    EXPECT_THAT(PodErrors(WithSpec(spec)), ElementsAreArray(errors)) << spec;
  }
}

TEST_F(PodStrategyTest, AnUpdateKeepsThePriority) {
  const Json pod = CreatePod(WithSpec({{"activeDeadlineSeconds", 5}}));
  const Json changed = Update(pod, R"({"spec": {
    "activeDeadlineSeconds": 3, "priority": null}})"_json);
  EXPECT_EQ(changed["spec"]["activeDeadlineSeconds"], 3);
  EXPECT_EQ(changed["spec"]["priority"], 0);
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
