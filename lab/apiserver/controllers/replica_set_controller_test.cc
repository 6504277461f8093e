#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "lab/apiserver/controllers/cluster_testing.h"

namespace minisched::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

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

  // Binds and starts a pod, as a scheduler and a kubelet do.
  void Run(const std::string& pod, const std::string& node) {
    Bind(pod, node);
    cluster_.Patch(
        "pods", pod,
        {{"status",
          {{"phase", "Running"},
           {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}},
        "status");
    Settle();
  }

  void Settle() { cluster_.loop.Advance(kSettle); }
  Json Status() { return cluster_.Get("replicasets", "web")["status"]; }

  TestCluster cluster_;
  std::unique_ptr<Controller> controller_ =
      NewReplicaSetController(cluster_.registry);
};

TEST_F(ReplicaSetControllerTest, CreatesMissingPods) {
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

TEST_F(ReplicaSetControllerTest, AdoptsMatchingPodsWithoutAController) {
  const auto create = [this](const char* name, const char* app) {
    cluster_.Create(
        "pods",
        {{"metadata", {{"name", name}, {"labels", {{"app", app}}}}},
         {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}});
  };
  create("mine", "web");
  create("other", "db");
  const Json set = MakeSet(2);
  EXPECT_THAT(cluster_.Names("pods"), SizeIs(3));
  EXPECT_EQ(cluster_.Get("pods", "mine")["metadata"]["ownerReferences"][0],
            Json({{"apiVersion", "apps/v1"},
                  {"kind", "ReplicaSet"},
                  {"name", "web"},
                  {"uid", UidOf(set)},
                  {"controller", true},
                  {"blockOwnerDeletion", true}}));
  EXPECT_FALSE(
      cluster_.Get("pods", "other")["metadata"].contains("ownerReferences"));
}

TEST_F(ReplicaSetControllerTest, CreatesManyPodsInSeveralSyncs) {
  MakeSet(250);
  EXPECT_THAT(cluster_.Names("pods"), SizeIs(250));
}

TEST_F(ReplicaSetControllerTest, ReplacesDeletedAndFailedPods) {
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

TEST_F(ReplicaSetControllerTest, StatusCountsItsPods) {
  MakeSet(3);
  const auto pods = cluster_.Names("pods");
  Run(pods[0], "n");
  Bind(pods[1], "n");
  cluster_.Delete("pods", pods[1]);
  Settle();
  EXPECT_EQ(Status(), Json({{"observedGeneration", 1},
                            {"replicas", 3},
                            {"fullyLabeledReplicas", 3},
                            {"readyReplicas", 1},
                            {"availableReplicas", 1},
                            {"terminatingReplicas", 1}}));
}

TEST_F(ReplicaSetControllerTest, DeletesUnboundThenUnreadyThenYoungestPods) {
  MakeSet(3);
  const auto old = cluster_.Names("pods");
  Run(old[0], "a");
  Run(old[1], "b");
  Bind(old[2], "c");
  cluster_.loop.Advance(std::chrono::hours(1));
  const auto staying = [&] {
    std::set<std::string> names;
    for (const Json& pod : cluster_.All("pods")) {
      if (!IsTerminating(pod)) names.insert(NameOf(pod));
    }
    return names;
  };
  ScaleTo(5);
  std::string ready;
  std::string unbound;
  for (const std::string& name : staying()) {
    if (std::find(old.begin(), old.end(), name) != old.end()) continue;
    (ready.empty() ? ready : unbound) = name;
  }
  Run(ready, "d");
  ScaleTo(4);
  EXPECT_THAT(staying(), UnorderedElementsAre(old[0], old[1], old[2], ready));
  ScaleTo(3);
  EXPECT_THAT(staying(), UnorderedElementsAre(old[0], old[1], ready));
  ScaleTo(2);
  EXPECT_THAT(staying(), UnorderedElementsAre(old[0], old[1]));
}

TEST_F(ReplicaSetControllerTest, RecordsAnEventWhenACreateFails) {
  const Json missing_class = {{"priorityClassName", "none"}};
  MakeSet(1, {{"template", {{"spec", missing_class}}}});
  EXPECT_THAT(cluster_.Names("pods"), IsEmpty());
  EXPECT_THAT(cluster_.Events("ReplicaSet"),
              ElementsAre(StartsWith("FailedCreate: Error creating: ")));
}

}  // namespace
}  // namespace minisched::apiserver
