#include "lab/apiserver/kinds/strategies.h"

#include "lab/apiserver/kinds/strategy_testing.h"

namespace minisched::apiserver {
namespace {

using testing::ElementsAre;
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

TEST_F(StrategiesTest, RefusesInvalidStrategies) {
  EXPECT_THAT(
      CreateErrors("apps/v1", "Deployment",
                   Workload(R"({"strategy": {"rollingUpdate": {
                     "maxUnavailable": "101%", "maxSurge": "x"}}})"_json)),
      ElementsAre(
          "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "
          "\"101%\": must not be greater than 100%",
          "spec.strategy.rollingUpdate.maxSurge: Invalid value: \"x\": a valid "
          "percent string must be a numeric string followed by an ending '%' "
          "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"));
}

TEST_F(StrategiesTest, AnAnnotationChangesTheGenerationOfADeployment) {
  const Json deployment = Create("apps/v1", "Deployment", Workload());
  Update(deployment, R"({"metadata": {"annotations": {"a": "b"}}})"_json);
  EXPECT_EQ(Stored(deployment)["metadata"]["generation"], 2);
}

TEST_F(StrategiesTest, ANodeHasRoomForAWholeNumberOfPods) {
  EXPECT_THAT(CreateErrors("v1", "Node", R"({
                "metadata": {"name": "n"},
                "status": {"allocatable": {"pods": "1500m"}}})"_json),
              ElementsAre("status.allocatable.pods: Invalid value: \"1500m\": "
                          "must be an integer"));
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

TEST_F(StrategiesTest, RefusesABudgetWithBothLimits) {
  EXPECT_THAT(
      CreateErrors("policy/v1", "PodDisruptionBudget", R"({
        "metadata": {"name": "x"},
        "spec": {"minAvailable": 1, "maxUnavailable": "50%"}})"_json),
      ElementsAre("spec: Invalid value: {\"maxUnavailable\":\"50%\","
                  "\"minAvailable\":1}: minAvailable and maxUnavailable cannot "
                  "be both set"));
}

TEST_F(StrategiesTest, OtherKindsGetNoDefaults) {
  const Json attachment = Create("storage.k8s.io/v1", "VolumeAttachment", R"({
    "metadata": {"name": "a"}, "spec": {"nodeName": "n"}})"_json);
  EXPECT_EQ(attachment["spec"],
            R"({"attacher": "", "nodeName": "n", "source": {}})"_json);
  Update(attachment, R"({"status": {"attached": true}})"_json);
  EXPECT_EQ(Stored(attachment), attachment);
}

}  // namespace
}  // namespace minisched::apiserver
