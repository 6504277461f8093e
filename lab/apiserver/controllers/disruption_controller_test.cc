#include <gmock/gmock.h>

#include "lab/apiserver/controllers/cluster_testing.h"

namespace minisched::apiserver {
namespace {

using ::testing::ElementsAre;

class DisruptionControllerTest : public ::testing::Test {
 protected:
  void Make(const Json& spec) {
    Json budget = Json::parse(R"({"metadata": {"name": "b"}, "spec": {
      "selector": {"matchLabels": {"app": "web"}}}})");
    budget["spec"].merge_patch(spec);
    cluster_.Create("poddisruptionbudgets", budget);
    Settle();
  }

  // Creates a ReplicaSet with four desired pods, and `number` pods of it. The
  // first `ready` pods are ready.
  void MakePods(int number, int ready) {
    const auto set = cluster_.Create("replicasets", R"({
      "metadata": {"name": "web"}, "spec": {"replicas": 4,
      "selector": {"matchLabels": {"app": "web"}},
      "template": {"metadata": {"labels": {"app": "web"}}, "spec": {
        "containers": [{"name": "c", "image": "i"}]}}}})");
    for (int i = 0; i < number; ++i) {
      const std::string name = "web-" + std::to_string(i);
      cluster_.Create("pods", TestPod(name, {{"metadata",
                                              {{"labels", {{"app", "web"}}},
                                               {"ownerReferences",
                                                {{{"apiVersion", "apps/v1"},
                                                  {"kind", "ReplicaSet"},
                                                  {"name", "web"},
                                                  {"uid", UidOf(*set)},
                                                  {"controller", true}}}}}}}));
      if (i >= ready) continue;
      cluster_.Patch(
          "pods", name,
          {{"status",
            {{"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}},
          "status");
    }
    Settle();
  }

  void Settle() { cluster_.loop.Advance(std::chrono::seconds(1)); }

  // Returns expectedPods, desiredHealthy, currentHealthy and disruptionsAllowed
  // of the status.
  std::vector<std::int64_t> Numbers() {
    const Json budget = cluster_.Get("poddisruptionbudgets", "b");
    std::vector<std::int64_t> numbers;
    for (const char* name : {"expectedPods", "desiredHealthy", "currentHealthy",
                             "disruptionsAllowed"}) {
      numbers.push_back(GetInt(budget, "status", name));
    }
    return numbers;
  }

  TestCluster cluster_;
  std::unique_ptr<Controller> controller_ =
      NewDisruptionController(cluster_.registry);
};

TEST_F(DisruptionControllerTest, MinAvailableCountsTheSelectedPods) {
  Make({{"minAvailable", 1}});
  EXPECT_THAT(Numbers(), ElementsAre(0, 1, 0, 0));
  MakePods(3, 2);
  EXPECT_THAT(Numbers(), ElementsAre(3, 1, 2, 1));
  const Json status = cluster_.Get("poddisruptionbudgets", "b")["status"];
  EXPECT_EQ(status["observedGeneration"], 1);
  EXPECT_EQ(status["conditions"][0]["reason"], "SufficientPods");
  cluster_.Delete("pods", "web-0");
  Settle();
  EXPECT_THAT(Numbers(), ElementsAre(2, 1, 1, 0));
}

TEST_F(DisruptionControllerTest, PercentagesReferToTheDesiredReplicas) {
  MakePods(3, 3);
  Make({{"minAvailable", "50%"}});
  EXPECT_THAT(Numbers(), ElementsAre(4, 2, 3, 1));
}

TEST_F(DisruptionControllerTest, MaxUnavailableRefersToTheDesiredReplicas) {
  MakePods(4, 4);
  Make({{"maxUnavailable", 1}});
  EXPECT_THAT(Numbers(), ElementsAre(4, 3, 4, 1));
}

TEST_F(DisruptionControllerTest, DeletedPodsDoNotCount) {
  MakePods(3, 3);
  Make({{"minAvailable", 1}});
  cluster_.Delete("pods", "web-0");
  Settle();
  EXPECT_THAT(Numbers(), ElementsAre(2, 1, 2, 1));
}

}  // namespace
}  // namespace minisched::apiserver
