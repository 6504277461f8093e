#include "minisched/apiserver/replica_set_controller.h"

#include <gmock/gmock.h>

#include "minisched/apiserver/cluster_testing.h"

namespace minisched::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr std::chrono::milliseconds kSettle{500};

class ReplicaSetControllerTest : public ::testing::Test {
 protected:
  Json MakeSet(int replicas, const Json& spec = nullptr) {
    Json set = Json::parse(R"({"metadata": {"name": "web"}, "spec": {
      "selector": {"matchLabels": {"app": "web"}},
      "template": {"metadata": {"labels": {"app": "web"}}, "spec": {
        "containers": [{"name": "c", "image": "i"}]}}}})");
    set["spec"]["replicas"] = replicas;
    if (!spec.is_null()) set["spec"].merge_patch(spec);
    cluster_.Create("replicasets", set);
    Settle();
    return cluster_.Get("replicasets", "web");
  }

  void ScaleTo(int replicas) {
    cluster_.Patch("replicasets", "web", {{"spec", {{"replicas", replicas}}}});
    Settle();
  }

  void Bind(const std::string& name, const std::string& node) {
    Json pod = cluster_.Get("pods", name);
    pod["spec"]["nodeName"] = node;
    cluster_.store.Put("pods", pod);
  }

  // What a scheduler and a kubelet do, after that many seconds.
  void Run(const std::string& pod, const std::string& node, int after = 0) {
    const std::string then =
        FormatTime(cluster_.loop.Now() + std::chrono::seconds(after));
    Bind(pod, node);
    cluster_.Patch("pods", pod,
                   {{"status",
                     {{"phase", "Running"},
                      {"conditions",
                       {{{"type", "Ready"},
                         {"status", "True"},
                         {"lastTransitionTime", then}}}}}}},
                   "status");
    Settle();
  }

  void Settle() { cluster_.loop.Advance(kSettle); }
  Json Status() { return cluster_.Get("replicasets", "web")["status"]; }

  TestCluster cluster_;
  ReplicaSetController controller_{cluster_.registry};
};

TEST_F(ReplicaSetControllerTest, MakesThePodsThatAreMissing) {
  const Json set = MakeSet(2);
  const auto pods = cluster_.All("pods");
  ASSERT_THAT(pods, SizeIs(2));
  EXPECT_THAT(NameOf(pods[0]), ::testing::MatchesRegex("web-[a-z0-9]{5}"));
  EXPECT_EQ(pods[0]["metadata"]["labels"]["app"], "web");
  EXPECT_EQ(pods[0]["metadata"]["ownerReferences"],
            Json::array({{{"apiVersion", "apps/v1"},
                          {"kind", "ReplicaSet"},
                          {"name", "web"},
                          {"uid", UidOf(set)},
                          {"controller", true},
                          {"blockOwnerDeletion", true}}}));
  EXPECT_EQ(Status(), Json({{"observedGeneration", 1},
                            {"replicas", 2},
                            {"fullyLabeledReplicas", 2},
                            {"terminatingReplicas", 0}}));
  EXPECT_THAT(cluster_.Events("ReplicaSet"),
              ElementsAre(StartsWith("SuccessfulCreate: Created pod: web-"),
                          StartsWith("SuccessfulCreate: Created pod: web-")));
}

TEST_F(ReplicaSetControllerTest, MakesManyInTurns) {
  MakeSet(250);
  EXPECT_THAT(cluster_.Names("pods"), SizeIs(250));
}

TEST_F(ReplicaSetControllerTest, ReplacesWhatGoesOrFails) {
  MakeSet(1);
  cluster_.Delete("pods", cluster_.Names("pods")[0]);
  Settle();
  ASSERT_THAT(cluster_.Names("pods"), SizeIs(1));
  cluster_.Patch("pods", cluster_.Names("pods")[0],
                 {{"status", {{"phase", "Failed"}}}}, "status");
  Settle();
  EXPECT_THAT(cluster_.Names("pods"), SizeIs(2));
  EXPECT_EQ(Status()["replicas"], 1);
}

TEST_F(ReplicaSetControllerTest, CountsPodsAsAvailableOnceTheyAreReadyForLong) {
  MakeSet(1, {{"minReadySeconds", 10}});
  Run(cluster_.Names("pods")[0], "n");
  EXPECT_EQ(GetInt(Status(), "readyReplicas"), 1);
  EXPECT_EQ(GetInt(Status(), "availableReplicas"), 0);
  cluster_.loop.Advance(std::chrono::seconds(10));
  EXPECT_EQ(GetInt(Status(), "availableReplicas"), 1);
}

TEST_F(ReplicaSetControllerTest, DeletesFirstWhatCanBestBeDoneWithout) {
  MakeSet(6);
  const auto pods = cluster_.Names("pods");
  Run(pods[0], "a");
  Run(pods[1], "b", 100);  // has been ready for the shortest time
  Run(pods[2], "c");
  cluster_.Patch("pods", pods[2],
                 {{"metadata",
                   {{"annotations",
                     {{"controller.kubernetes.io/pod-deletion-cost", "5"}}}}}});
  Run(pods[3], "d");
  Run(pods[4], "d");
  Bind(pods[5], "e");
  ScaleTo(7);
  const auto unbound = [&] {
    for (const Json& pod : cluster_.All("pods")) {
      if (GetString(pod, "spec", "nodeName").empty()) return NameOf(pod);
    }
    return std::string();
  }();
  cluster_.loop.Advance(std::chrono::hours(1));

  const auto going = [&] {
    std::vector<std::string> names;
    for (const Json& pod : cluster_.All("pods")) {
      if (!IsTerminating(pod)) names.push_back(NameOf(pod));
    }
    return names;
  };
  const auto is_there = [&](const std::string& name) {
    const auto names = going();
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  ScaleTo(6);
  EXPECT_FALSE(is_there(unbound));
  ScaleTo(5);
  EXPECT_FALSE(is_there(pods[5]));
  ScaleTo(1);
  EXPECT_THAT(going(), ElementsAre(pods[2]));
}

TEST_F(ReplicaSetControllerTest, AdoptsOrphansAndLetsGoOfWhatItDoesNotSelect) {
  const Json labels = {{"metadata", {{"labels", {{"app", "web"}}}}}};
  cluster_.Create("pods", TestPod("mine", labels));
  cluster_.Create("pods", TestPod("other"));
  const Json set = MakeSet(1);
  EXPECT_THAT(cluster_.Names("pods"), ElementsAre("mine", "other"));
  EXPECT_EQ(ControllerOf(cluster_.Get("pods", "mine"))["uid"], UidOf(set));

  cluster_.Patch("pods", "mine",
                 {{"metadata", {{"labels", {{"app", "else"}}}}}});
  Settle();
  EXPECT_TRUE(ControllerOf(cluster_.Get("pods", "mine")).is_null());
  EXPECT_THAT(cluster_.Names("pods"), SizeIs(3));
  EXPECT_EQ(Status()["replicas"], 1);
}

TEST_F(ReplicaSetControllerTest, SaysWhatKeepsItFromMakingPods) {
  const Json classy = {{"priorityClassName", "none"}};
  MakeSet(1, {{"template", {{"spec", classy}}}});
  EXPECT_THAT(cluster_.Names("pods"), IsEmpty());
  const Json condition = Status()["conditions"][0];
  EXPECT_EQ(condition["type"], "ReplicaFailure");
  EXPECT_EQ(condition["reason"], "FailedCreate");
  EXPECT_THAT(cluster_.Events("ReplicaSet"),
              ElementsAre("FailedCreate: Error creating: " +
                          GetString(condition, "message")));
  ScaleTo(0);
  EXPECT_TRUE(Get(Status(), "conditions").is_null());
}

}  // namespace
}  // namespace minisched::apiserver
