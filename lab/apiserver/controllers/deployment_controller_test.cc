#include <gmock/gmock.h>

#include <map>

#include "lab/apiserver/controllers/cluster_testing.h"

namespace minisched::apiserver {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::SizeIs;

using SizeByImage = std::map<std::string, std::int64_t>;

class DeploymentControllerTest : public ::testing::Test {
 protected:
  DeploymentControllerTest() {
    cluster_.Create("nodes", R"({"metadata": {"name": "n"}})");
  }

  // Creates a Deployment. If `bound`, its pods are on node n from the start;
  // otherwise they never get a node.
  void Make(int replicas, const Json& spec = nullptr, bool bound = true) {
    Json deployment = Json::parse(R"({"metadata": {"name": "web",
      "annotations": {"note": "mine"}}, "spec": {
      "selector": {"matchLabels": {"app": "web"}},
      "template": {"metadata": {"labels": {"app": "web"}}, "spec": {
        "containers": [{"name": "c", "image": "one"}]}}}})");
    deployment["spec"]["replicas"] = replicas;
    if (bound) deployment["spec"]["template"]["spec"]["nodeName"] = "n";
    if (!spec.is_null()) deployment["spec"].merge_patch(spec);
    cluster_.Create("deployments", deployment);
    Settle();
  }

  void Change(const Json& spec) {
    cluster_.Patch("deployments", "web", {{"spec", spec}});
  }
  static Json Image(const std::string& image, bool bound = true) {
    Json spec = {{"containers", {{{"name", "c"}, {"image", image}}}}};
    spec["nodeName"] = bound ? Json("n") : Json();
    return {{"template", {{"spec", spec}}}};
  }

  void Settle() { cluster_.loop.Advance(std::chrono::seconds(10)); }

  // Returns the desired size of each ReplicaSet, by the image of its pods.
  SizeByImage Sizes() {
    SizeByImage sizes;
    for (const Json& set : cluster_.All("replicasets")) {
      sizes[ImageOf(set)] = Replicas(set);
    }
    return sizes;
  }
  static std::string ImageOf(const Json& set) {
    return set["spec"]["template"]["spec"]["containers"][0]["image"];
  }
  Json ReplicaSetOf(const std::string& image) {
    for (const Json& set : cluster_.All("replicasets")) {
      if (ImageOf(set) == image) return set;
    }
    return nullptr;
  }

  Json Deployment() { return cluster_.Get("deployments", "web"); }
  // Returns "REASON: MESSAGE" of the Deployment's condition.
  std::string Condition(const std::string& type) {
    const Json deployment = Deployment();
    const Json& condition =
        FindBy(Get(deployment, "status", "conditions"), "type", type);
    return GetString(condition, "reason") + ": " +
           GetString(condition, "message");
  }

  TestCluster cluster_;
  std::unique_ptr<Controller> kubelets_ =
      NewKubeletSimulator(cluster_.registry);
  std::unique_ptr<Controller> replica_sets_ =
      NewReplicaSetController(cluster_.registry);
  std::unique_ptr<Controller> deployments_ =
      NewDeploymentController(cluster_.registry);
};

TEST_F(DeploymentControllerTest, CreatesAReplicaSetForTheTemplate) {
  Make(2);
  const Json set = ReplicaSetOf("one");
  const std::string hash =
      GetString(set, "metadata", "labels", "pod-template-hash");
  EXPECT_EQ(NameOf(set), "web-" + hash);
  EXPECT_EQ(set["spec"]["selector"]["matchLabels"]["pod-template-hash"], hash);

  Json status = Deployment()["status"];
  EXPECT_EQ(Condition("Available"),
            "MinimumReplicasAvailable: Deployment has minimum availability.");
  EXPECT_EQ(Condition("Progressing"), "NewReplicaSetAvailable: ReplicaSet \"" +
                                          NameOf(set) +
                                          "\" has successfully progressed.");
  status.erase("conditions");
  EXPECT_EQ(status, Json({{"observedGeneration", 1},
                          {"replicas", 2},
                          {"updatedReplicas", 2},
                          {"readyReplicas", 2},
                          {"availableReplicas", 2},
                          {"terminatingReplicas", 0}}));
  EXPECT_THAT(cluster_.Events("Deployment"),
              ElementsAre("ScalingReplicaSet: Scaled up replica set " +
                          NameOf(set) + " from 0 to 2"));
}

TEST_F(DeploymentControllerTest, AdoptsAReplicaSetWithItsTemplate) {
  Make(2);
  // As an import creates the copies: first the set, without its owner.
  Json set = ReplicaSetOf("one");
  set["metadata"] = {{"name", "copied"}, {"labels", set["metadata"]["labels"]}};
  const Json spec = Deployment()["spec"];
  cluster_.Delete("deployments", "web");
  cluster_.Delete("replicasets", cluster_.Names("replicasets")[0]);
  Settle();
  cluster_.Create("replicasets", set);
  Settle();
  Make(2, spec);
  EXPECT_THAT(cluster_.Names("replicasets"), ElementsAre("copied"));
  EXPECT_EQ(cluster_.Get("replicasets",
                         "copied")["metadata"]["ownerReferences"][0]["uid"],
            UidOf(Deployment()));
  EXPECT_EQ(Deployment()["status"]["updatedReplicas"], 2);
}

TEST_F(DeploymentControllerTest, ARolloutRespectsTheLimitsOfItsStrategy) {
  Make(8);
  Change(Image("two"));
  std::int64_t pods = 8;
  for (int i = 0; i < 1000 && Sizes() != SizeByImage{{"one", 0}, {"two", 8}};
       ++i) {
    cluster_.loop.Advance(milliseconds(10));
    pods = cluster_.All("pods").size();
    ASSERT_THAT(pods, AllOf(Ge(6), Le(10)));
  }
  Settle();
  EXPECT_THAT(cluster_.Names("pods"), SizeIs(8));
  EXPECT_EQ(Deployment()["status"]["updatedReplicas"], 8);
}

TEST_F(DeploymentControllerTest, AStuckRolloutKeepsAvailablePods) {
  Make(4);
  Change(Image("two", /*bound=*/false));
  Settle();
  EXPECT_EQ(Sizes(), (SizeByImage{{"one", 3}, {"two", 2}}));
  EXPECT_EQ(Deployment()["status"]["unavailableReplicas"], 2);
  EXPECT_THAT(Condition("Progressing"), HasSubstr("is progressing."));

  // A rollout that can complete replaces the pods of both older templates.
  Change(Image("three"));
  Settle();
  EXPECT_EQ(Sizes(), (SizeByImage{{"one", 0}, {"two", 0}, {"three", 4}}));
  EXPECT_THAT(Condition("Progressing"), HasSubstr("NewReplicaSetAvailable"));
}

TEST_F(DeploymentControllerTest, APausedRolloutStopsWhereItIs) {
  Make(4);
  Change({{"paused", true}});
  Change(Image("two"));
  Change({{"replicas", 6}});
  Settle();
  // The pods of the only ReplicaSet can still be scaled.
  EXPECT_EQ(Sizes(), (SizeByImage{{"one", 6}}));
  EXPECT_EQ(Condition("Progressing"), "DeploymentPaused: Deployment is paused");
  EXPECT_EQ(Deployment()["status"]["observedGeneration"], 4);

  Change({{"paused", false}});
  Settle();
  EXPECT_EQ(Sizes(), (SizeByImage{{"one", 0}, {"two", 6}}));
  EXPECT_THAT(Condition("Progressing"), HasSubstr("NewReplicaSetAvailable"));
}

TEST_F(DeploymentControllerTest, ARolloutCanBePausedHalfway) {
  Make(4);
  Change(Image("two", /*bound=*/false));
  Settle();
  Change({{"paused", true}});
  Change({{"replicas", 1}});
  Settle();
  EXPECT_EQ(Sizes(), (SizeByImage{{"one", 3}, {"two", 2}}));
}

TEST_F(DeploymentControllerTest, APausedDeploymentStartsWithoutPods) {
  Make(2, {{"paused", true}});
  EXPECT_EQ(Sizes(), SizeByImage());
  Change({{"paused", false}});
  Settle();
  EXPECT_EQ(Sizes(), (SizeByImage{{"one", 2}}));
}

TEST_F(DeploymentControllerTest, AnEarlierTemplateReusesItsReplicaSet) {
  Make(2);
  Change(Image("two"));
  Settle();
  Change(Image("one"));
  Settle();
  EXPECT_EQ(Sizes(), (SizeByImage{{"one", 2}, {"two", 0}}));
}

TEST_F(DeploymentControllerTest, TheStrategyLimitsTheSizesOfAStuckRollout) {
  struct Case {
    int replicas;
    Json surge;
    Json unavailable;
    int old_pods;
    int new_pods;
  };
  const Case cases[] = {
      {10, "25%", "25%", 8, 5}, {1, "25%", "25%", 1, 1}, {4, 2, 3, 1, 4},
      {2, 0, "1%", 1, 1},       {3, 0, 10, 0, 3},        {0, "25%", 1, 0, 0},
  };
  for (const Case& c : cases) {
    Make(c.replicas,
         {{"strategy",
           {{"rollingUpdate",
             {{"maxSurge", c.surge}, {"maxUnavailable", c.unavailable}}}}}});
    Change(Image("two", /*bound=*/false));
    Settle();
    EXPECT_EQ(Sizes(), (SizeByImage{{"one", c.old_pods}, {"two", c.new_pods}}))
        << c.replicas << c.surge;
    cluster_.Delete("deployments", "web");
    for (const std::string& name : cluster_.Names("replicasets")) {
      cluster_.Delete("replicasets", name);
    }
  }
}

TEST_F(DeploymentControllerTest, ScalesDuringARollout) {
  Make(4);
  Change(Image("two", /*bound=*/false));
  Settle();
  Change({{"replicas", 8}});
  Settle();
  EXPECT_EQ(Sizes(), (SizeByImage{{"one", 3}, {"two", 7}}));
  Change({{"replicas", 2}});
  Settle();
  EXPECT_EQ(Sizes(), (SizeByImage{{"one", 2}, {"two", 2}}));
  Change({{"replicas", 0}});
  Settle();
  EXPECT_EQ(Sizes(), (SizeByImage{{"one", 0}, {"two", 0}}));
}

TEST_F(DeploymentControllerTest, RecreateDeletesTheOldPodsFirst) {
  Make(3, {{"strategy", {{"type", "Recreate"}, {"rollingUpdate", nullptr}}}});
  Change(Image("two"));
  bool empty = false;
  for (int i = 0; i < 200; ++i) {
    cluster_.loop.Advance(milliseconds(10));
    const auto sizes = Sizes();
    empty |= cluster_.Names("pods").empty();
    EXPECT_TRUE(empty || !sizes.contains("two"));
  }
  EXPECT_TRUE(empty);
  EXPECT_EQ(Sizes(), (SizeByImage{{"one", 0}, {"two", 3}}));
}

TEST_F(DeploymentControllerTest, ADeploymentWithoutPodsIsUnavailable) {
  Make(1, {{"template", {{"spec", {{"priorityClassName", "none"}}}}}});
  EXPECT_EQ(Condition("Available"),
            "MinimumReplicasUnavailable: Deployment does not have minimum "
            "availability.");
}

TEST_F(DeploymentControllerTest,
       ARecreateDeploymentWithoutReadyPodsIsUnavailable) {
  Make(2, {{"strategy", {{"type", "Recreate"}, {"rollingUpdate", nullptr}}}},
       /*bound=*/false);
  EXPECT_EQ(Condition("Available"),
            "MinimumReplicasUnavailable: Deployment does not have minimum "
            "availability.");
}

TEST_F(DeploymentControllerTest, AHugeMaxSurgeDoesNotOverflow) {
  const std::string surge = std::string(30, '9') + "%";
  Make(2, {{"strategy", {{"rollingUpdate", {{"maxSurge", surge}}}}}});
  EXPECT_EQ(Sizes(), (SizeByImage{{"one", 2}}));
  Change(Image("two"));
  Settle();
  EXPECT_EQ(Sizes(), (SizeByImage{{"one", 0}, {"two", 2}}));
}

TEST_F(DeploymentControllerTest, WritesNothingWhenNothingChanges) {
  Make(2);
  Change(Image("two"));
  Settle();
  const auto version = cluster_.store.version();
  cluster_.loop.Advance(std::chrono::seconds(1));
  const auto second = NewDeploymentController(cluster_.registry);
  const auto third = NewReplicaSetController(cluster_.registry);
  cluster_.loop.Advance(std::chrono::seconds(1));
  EXPECT_EQ(cluster_.store.version(), version);
}

}  // namespace
}  // namespace minisched::apiserver
