#include <gmock/gmock.h>

#include "minisched/apiserver/controllers/cluster_testing.h"

namespace minisched::apiserver {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class NodeControllerTest : public ::testing::Test {
 protected:
  NodeControllerTest() {
    cluster_.Create("nodes", R"({"metadata": {"name": "n"}})");
    cluster_.loop.Run();
  }

  void PatchNode(const Json& patch, std::string_view subresource = "") {
    cluster_.Patch("nodes", "n", patch, subresource);
    cluster_.loop.Run();
  }
  void SetCondition(const std::string& type, const std::string& status) {
    PatchNode(
        {{"status", {{"conditions", {{{"type", type}, {"status", status}}}}}}},
        "status");
  }

  // "KEY:EFFECT" of each.
  std::vector<std::string> Taints() {
    std::vector<std::string> taints;
    const Json node = cluster_.Get("nodes", "n");
    for (const Json& taint : Get(node, "spec", "taints")) {
      taints.push_back(GetString(taint, "key") + ":" +
                       GetString(taint, "effect"));
    }
    return taints;
  }

  void MakePod(const std::string& name, const Json& tolerations) {
    cluster_.Create(
        "pods",
        TestPod(name,
                {{"spec", {{"nodeName", "n"}, {"tolerations", tolerations}}}}));
    cluster_.loop.Run();
  }

  TestCluster cluster_;
  std::unique_ptr<Controller> controller_ =
      NewNodeController(cluster_.registry);
};

TEST_F(NodeControllerTest, CordonedNodesAreTainted) {
  PatchNode({{"spec", {{"unschedulable", true}}}});
  EXPECT_THAT(Taints(),
              ElementsAre("node.kubernetes.io/unschedulable:NoSchedule"));
  EXPECT_EQ(cluster_.Get("nodes", "n")["spec"]["taints"][0]["timeAdded"],
            cluster_.registry.Now());
  PatchNode({{"spec", {{"unschedulable", nullptr}}}});
  EXPECT_THAT(Taints(), IsEmpty());
}

TEST_F(NodeControllerTest, ConditionsBecomeTaints) {
  PatchNode(
      {{"spec", {{"taints", {{{"key", "mine"}, {"effect", "NoSchedule"}}}}}}});
  SetCondition("DiskPressure", "True");
  EXPECT_THAT(Taints(),
              ElementsAre("mine:NoSchedule",
                          "node.kubernetes.io/disk-pressure:NoSchedule"));
  SetCondition("Ready", "False");
  EXPECT_THAT(Taints(),
              UnorderedElementsAre("mine:NoSchedule",
                                   "node.kubernetes.io/not-ready:NoSchedule",
                                   "node.kubernetes.io/not-ready:NoExecute"));
  SetCondition("Ready", "Unknown");
  EXPECT_THAT(Taints(),
              UnorderedElementsAre("mine:NoSchedule",
                                   "node.kubernetes.io/unreachable:NoSchedule",
                                   "node.kubernetes.io/unreachable:NoExecute"));
  SetCondition("Ready", "True");
  EXPECT_THAT(Taints(), ElementsAre("mine:NoSchedule"));
}

TEST_F(NodeControllerTest, TaintsEvictPodsThatDoNotTolerateThem) {
  const auto toleration = [](const Json& seconds) {
    Json one = {{"key", "k"}, {"operator", "Exists"}, {"effect", "NoExecute"}};
    if (!seconds.is_null()) one["tolerationSeconds"] = seconds;
    return Json::array({one});
  };
  MakePod("always", toleration(nullptr));
  MakePod("never", Json::array());
  MakePod("while", toleration(60));
  const auto evicted = [&] {
    std::vector<std::string> names;
    for (const Json& pod : cluster_.All("pods")) {
      if (IsTerminating(pod)) names.push_back(NameOf(pod));
    }
    return names;
  };
  const auto taint = [&](const Json& taints) {
    PatchNode({{"spec", {{"taints", taints}}}});
  };
  taint({{{"key", "k"}, {"effect", "NoExecute"}}});
  EXPECT_THAT(evicted(), ElementsAre("never"));
  cluster_.loop.Advance(seconds(59));
  EXPECT_THAT(evicted(), ElementsAre("never"));
  cluster_.loop.Advance(seconds(1));
  EXPECT_THAT(evicted(), ElementsAre("never", "while"));
}

TEST_F(NodeControllerTest, ATaintThatGoesInTimeEvictsNobody) {
  MakePod("p", {{{"key", "k"},
                 {"operator", "Exists"},
                 {"effect", "NoExecute"},
                 {"tolerationSeconds", 60}}});
  PatchNode(
      {{"spec", {{"taints", {{{"key", "k"}, {"effect", "NoExecute"}}}}}}});
  cluster_.loop.Advance(seconds(30));
  PatchNode({{"spec", {{"taints", nullptr}}}});
  cluster_.loop.Advance(seconds(60));
  EXPECT_FALSE(IsTerminating(cluster_.Get("pods", "p")));
}

TEST_F(NodeControllerTest, PodsOfANodeThatIsGoneGoAfterAWhile) {
  MakePod("p", Json::array());
  cluster_.Create("pods",
                  TestPod("lost", {{"spec", {{"nodeName", "never-there"}}}}));
  cluster_.Delete("nodes", "n");
  cluster_.loop.Advance(seconds(39));
  EXPECT_THAT(cluster_.Names("pods"), ElementsAre("lost", "p"));
  cluster_.loop.Advance(seconds(1));
  EXPECT_THAT(cluster_.Names("pods"), IsEmpty());
}

TEST_F(NodeControllerTest, ANodeThatComesBackInTimeKeepsItsPods) {
  MakePod("p", Json::array());
  cluster_.Delete("nodes", "n");
  cluster_.loop.Advance(seconds(30));
  cluster_.Create("nodes", R"({"metadata": {"name": "n"}})");
  cluster_.loop.Advance(seconds(60));
  EXPECT_FALSE(IsTerminating(cluster_.Get("pods", "p")));
}

}  // namespace
}  // namespace minisched::apiserver
