#include "minisched/apiserver/deployment_controller.h"

#include <gmock/gmock.h>

#include <map>

#include "minisched/apiserver/cluster_testing.h"
#include "minisched/apiserver/deployment_util.h"
#include "minisched/apiserver/kubelet_simulator.h"
#include "minisched/apiserver/replica_set_controller.h"

namespace minisched::apiserver {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

TEST(LeewayTest, FollowsFromTheStrategy) {
  struct Case {
    int replicas;
    Json surge;
    Json unavailable;
    int want_surge;
    int want_unavailable;
  };
  const Case cases[] = {
      {10, "25%", "25%", 3, 2}, {1, "25%", "25%", 1, 0}, {4, 2, 3, 2, 3},
      {2, 0, "1%", 0, 1},       {3, 0, 10, 0, 3},        {0, "25%", 1, 0, 0},
  };
  for (const Case& c : cases) {
    const Leeway leeway = Leeway::Of(
        {{"spec",
          {{"replicas", c.replicas},
           {"strategy",
            {{"type", "RollingUpdate"},
             {"rollingUpdate",
              {{"maxSurge", c.surge}, {"maxUnavailable", c.unavailable}}}}}}}});
    EXPECT_EQ(leeway.surge, c.want_surge) << c.replicas << c.surge;
    EXPECT_EQ(leeway.unavailable, c.want_unavailable) << c.replicas << c.surge;
  }
}

class DeploymentControllerTest : public ::testing::Test {
 protected:
  DeploymentControllerTest() {
    cluster_.Create("nodes", R"({"metadata": {"name": "n"}})");
  }

  // With pods that are on node n from the start, or never anywhere.
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

  // What each ReplicaSet wants, by its image.
  std::map<std::string, std::int64_t> Sizes() {
    std::map<std::string, std::int64_t> sizes;
    for (const Json& set : cluster_.All("replicasets")) {
      sizes[ImageOf(set)] = Replicas(set);
    }
    return sizes;
  }
  static std::string ImageOf(const Json& set) {
    return set["spec"]["template"]["spec"]["containers"][0]["image"];
  }
  Json SetOf(const std::string& image) {
    for (const Json& set : cluster_.All("replicasets")) {
      if (ImageOf(set) == image) return set;
    }
    return nullptr;
  }

  Json Deployment() { return cluster_.Get("deployments", "web"); }
  // "REASON: MESSAGE"
  std::string Condition(const std::string& type) {
    const Json deployment = Deployment();
    const Json& condition =
        FindBy(Get(deployment, "status", "conditions"), "type", type);
    return GetString(condition, "reason") + ": " +
           GetString(condition, "message");
  }

  TestCluster cluster_;
  KubeletSimulator kubelets_{cluster_.registry};
  ReplicaSetController replica_sets_{cluster_.registry};
  DeploymentController deployments_{cluster_.registry};
};

TEST_F(DeploymentControllerTest, MakesAReplicaSetOfItsTemplate) {
  Make(2);
  const Json set = SetOf("one");
  const std::string hash =
      GetString(set, "metadata", "labels", "pod-template-hash");
  EXPECT_EQ(NameOf(set), "web-" + hash);
  EXPECT_EQ(set["spec"]["selector"]["matchLabels"]["pod-template-hash"], hash);
  EXPECT_EQ(set["metadata"]["annotations"],
            Json({{"deployment.kubernetes.io/desired-replicas", "2"},
                  {"deployment.kubernetes.io/max-replicas", "3"},
                  {"deployment.kubernetes.io/revision", "1"},
                  {"note", "mine"}}));
  EXPECT_EQ(Annotation(Deployment(), kRevision), "1");

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

TEST_F(DeploymentControllerTest, RollsWithinItsLeeway) {
  Make(8);
  Change(Image("two"));
  std::int64_t pods = 8;
  for (int i = 0;
       i < 1000 &&
       Sizes() != std::map<std::string, std::int64_t>{{"one", 0}, {"two", 8}};
       ++i) {
    cluster_.loop.Advance(milliseconds(10));
    pods = cluster_.All("pods").size();
    ASSERT_THAT(pods, AllOf(Ge(6), Le(10)));
  }
  Settle();
  EXPECT_THAT(cluster_.Names("pods"), SizeIs(8));
  EXPECT_EQ(Deployment()["status"]["updatedReplicas"], 8);
  EXPECT_EQ(Annotation(Deployment(), kRevision), "2");
}

TEST_F(DeploymentControllerTest, ARolloutThatCannotGoOnKeepsWhatWorks) {
  Make(4);
  Change(Image("two", /*bound=*/false));
  Settle();
  EXPECT_EQ(Sizes(),
            (std::map<std::string, std::int64_t>{{"one", 3}, {"two", 2}}));
  EXPECT_EQ(Deployment()["status"]["unavailableReplicas"], 2);
  EXPECT_THAT(Condition("Progressing"), HasSubstr("is progressing."));
  cluster_.loop.Advance(std::chrono::minutes(11));
  EXPECT_THAT(Condition("Progressing"),
              HasSubstr("ProgressDeadlineExceeded: ReplicaSet"));

  // Undone, it is as before, but for its revision.
  Change(Image("one"));
  Settle();
  EXPECT_EQ(Sizes(),
            (std::map<std::string, std::int64_t>{{"one", 4}, {"two", 0}}));
  EXPECT_EQ(Annotation(SetOf("one"), kRevision), "3");
  EXPECT_EQ(
      Annotation(SetOf("one"), "deployment.kubernetes.io/revision-history"),
      "1");
  EXPECT_THAT(Condition("Progressing"), HasSubstr("NewReplicaSetAvailable"));
}

TEST_F(DeploymentControllerTest, GrowsInProportionInTheMiddleOfARollout) {
  Make(10, {{"strategy",
             {{"rollingUpdate", {{"maxSurge", 3}, {"maxUnavailable", 2}}}}}});
  Change(Image("two", /*bound=*/false));
  Settle();
  EXPECT_EQ(Sizes(),
            (std::map<std::string, std::int64_t>{{"one", 8}, {"two", 5}}));
  Change({{"replicas", 15}});
  Settle();
  EXPECT_EQ(Sizes(),
            (std::map<std::string, std::int64_t>{{"one", 11}, {"two", 7}}));
}

TEST_F(DeploymentControllerTest, RecreateHasThePodsGoFirst) {
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
  EXPECT_EQ(Sizes(),
            (std::map<std::string, std::int64_t>{{"one", 0}, {"two", 3}}));
}

TEST_F(DeploymentControllerTest, PausedItScalesButDoesNotRoll) {
  Make(2);
  Change({{"paused", true}});
  Settle();
  EXPECT_EQ(Condition("Progressing"), "DeploymentPaused: Deployment is paused");
  Change(Image("two"));
  Change({{"replicas", 3}});
  Settle();
  EXPECT_EQ(Sizes(), (std::map<std::string, std::int64_t>{{"one", 3}}));
  Change({{"paused", false}});
  Settle();
  EXPECT_EQ(Sizes(),
            (std::map<std::string, std::int64_t>{{"one", 0}, {"two", 3}}));
}

TEST_F(DeploymentControllerTest, KeepsSomeOfItsHistory) {
  Make(1, {{"revisionHistoryLimit", 1}});
  for (const char* image : {"two", "three"}) {
    Change(Image(image));
    Settle();
  }
  EXPECT_EQ(Sizes(),
            (std::map<std::string, std::int64_t>{{"three", 1}, {"two", 0}}));
}

TEST_F(DeploymentControllerTest, SaysWhatKeepsItsPodsFromBeingMade) {
  Make(1, {{"template", {{"spec", {{"priorityClassName", "none"}}}}}});
  EXPECT_THAT(Condition("ReplicaFailure"), HasSubstr("FailedCreate: "));
  EXPECT_EQ(Condition("Available"),
            "MinimumReplicasUnavailable: Deployment does not have minimum "
            "availability.");
}

TEST_F(DeploymentControllerTest, AnotherReplicaSetOfThatNameIsNoObstacle) {
  Make(1);
  const Json set = SetOf("one");
  const std::string name = NameOf(set);
  cluster_.Delete("deployments", "web");
  cluster_.Patch(
      "replicasets", name,
      {{"metadata",
        {{"labels", {{"app", "other"}}}, {"ownerReferences", nullptr}}}});
  Make(1);
  EXPECT_THAT(cluster_.Names("replicasets"), SizeIs(2));
  EXPECT_EQ(Deployment()["status"]["collisionCount"], 1);
}

TEST_F(DeploymentControllerTest, AtRestItWritesNothing) {
  Make(2);
  Change(Image("two"));
  Settle();
  const auto version = cluster_.store.version();
  cluster_.loop.Advance(std::chrono::seconds(1));
  DeploymentController second(cluster_.registry);
  ReplicaSetController third(cluster_.registry);
  cluster_.loop.Advance(std::chrono::seconds(1));
  EXPECT_EQ(cluster_.store.version(), version);
}

}  // namespace
}  // namespace minisched::apiserver
