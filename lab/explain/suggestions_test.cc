#include "lab/explain/suggestions.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "lab/explain/trial.h"
#include "lab/explain/typing_errors.h"

namespace minisched::explain {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Json = nlohmann::json;
using Texts = std::vector<std::string>;

// The node node-1, a pod on it, and the pending pod default/web.
class SuggestionsTest : public ::testing::Test {
 protected:
  // Returns the changes if these plugins reject the node.
  Texts ChangesAfter(const std::string& plugin) {
    changes_ = Find({plugin}).changes;
    return TextsOf(changes_);
  }
  static Texts TextsOf(const std::vector<Change>& changes) {
    Texts texts;
    for (const Change& change : changes) texts.push_back(change.text);
    return texts;
  }
  Candidates Find(const Texts& plugins) {
    Json other = PodWith("other", other_);
    other["metadata"]["ownerReferences"] = {{{"apiVersion", "apps/v1"},
                                             {"kind", owner_},
                                             {"name", "owner"},
                                             {"uid", "owner"},
                                             {"controller", true}}};
    const Json list = {{"kind", "List"},
                       {"items",
                        {{{"apiVersion", "v1"},
                          {"kind", "Namespace"},
                          {"metadata", {{"name", "default"}}}},
                         node_,
                         pod_,
                         other}}};
    const Experiment experiment{
        .pod = {"default", "web"},
        .scheduler_name = "minisched",
        .objects = {.manifests = {{list.dump(), "dump"}}}};
    Trial trial(experiment, {}, {});
    RejectedNode rejected{.node = "node-1"};
    for (const std::string& plugin : plugins) {
      rejected.rejections.push_back({.plugin = plugin});
    }
    const Answer answer{.rejected = {rejected}};
    const NodeStates nodes = ReadNodes(trial.copy().server());
    const Rules rules(trial.pod(), nodes, {});
    return ChangesFor(trial, nodes, rules, answer, {});
  }

  // Makes the pod require one of these lists of requirements.
  void Require(const Json& first, const Json& second = nullptr) {
    Json terms = {{{"matchExpressions", first}}};
    if (!second.is_null()) terms.push_back({{"matchExpressions", second}});
    pod_["spec"]["affinity"]["nodeAffinity"] = {
        {"requiredDuringSchedulingIgnoredDuringExecution",
         {{"nodeSelectorTerms", terms}}}};
  }
  static Json ZoneIs(const std::string& zone) {
    return {{{"key", "zone"}, {"operator", "In"}, {"values", {zone}}}};
  }

  static Json PodWith(const std::string& name, const Json& container) {
    return {
        {"apiVersion", "v1"},
        {"kind", "Pod"},
        {"metadata", {{"name", name}, {"namespace", "default"}, {"uid", name}}},
        {"spec", {{"nodeName", "node-1"}, {"containers", {container}}}}};
  }
  Json& Container() { return pod_["spec"]["containers"][0]; }

  Json node_ = {{"apiVersion", "v1"},
                {"kind", "Node"},
                {"metadata", {{"name", "node-1"}, {"labels", {{"zone", "a"}}}}},
                {"status", {{"allocatable", {{"cpu", "4"}, {"pods", "9"}}}}}};
  Json pod_ = [] {
    Json pod = PodWith("web", {{"name", "c"}});
    pod["spec"].erase("nodeName");
    return pod;
  }();
  Json other_ = {{"name", "c"}};      // the container of a pod on the node
  std::string owner_ = "ReplicaSet";  // the kind of this pod's owner
  std::vector<Change> changes_;       // of the last ChangesAfter()
};

TEST_F(SuggestionsTest, ACordonedNodeIsUncordoned) {
  node_["spec"]["unschedulable"] = true;
  EXPECT_THAT(ChangesAfter("NodeUnschedulable"),
              ElementsAre("node-1 is uncordoned", "one more node like node-1"));
}

TEST_F(SuggestionsTest, ATaintIsToleratedOrRemoved) {
  node_["spec"]["taints"] = {{{"key", "gpu"}, {"effect", "NoSchedule"}}};
  EXPECT_THAT(ChangesAfter("TaintToleration"),
              ElementsAre("the pod tolerates gpu:NoSchedule",
                          "node-1 loses the taint gpu:NoSchedule"));
}

TEST_F(SuggestionsTest, ARequestIsLowered) {
  other_["resources"]["requests"]["cpu"] = "3";
  Container()["resources"]["requests"]["cpu"] = "2";
  EXPECT_THAT(
      ChangesAfter("NodeResourcesFit"),
      ElementsAre("the pod requests cpu: 1", "one more node like node-1"));
}

TEST_F(SuggestionsTest, ThePodThatHoldsThePortIsDeleted) {
  const Json port = {
      {{"containerPort", 80}, {"hostPort", 80}, {"protocol", "TCP"}}};
  other_["ports"] = Container()["ports"] = port;
  EXPECT_THAT(
      ChangesAfter("NodePorts"),
      ElementsAre(
          "the pod default/other, which has port 80 of node-1, is deleted",
          "one more node like node-1"));
}

TEST_F(SuggestionsTest, APodOfADaemonSetIsNotDeleted) {
  other_["ports"] = Container()["ports"] = {
      {{"containerPort", 80}, {"hostPort", 80}, {"protocol", "TCP"}}};
  owner_ = "DaemonSet";
  EXPECT_THAT(ChangesAfter("NodePorts"),
              ElementsAre("one more node like node-1"));
  owner_ = "Node";  // a static pod
  EXPECT_THAT(ChangesAfter("NodePorts"),
              ElementsAre("one more node like node-1"));
}

TEST_F(SuggestionsTest, ANewNodeHasItsOwnHostname) {
  node_["spec"]["unschedulable"] = true;
  node_["metadata"]["labels"] = {{"kubernetes.io/hostname", "host-1"},
                                 {"example.com/host", "host-1"},
                                 {"example.com/node", "node-1"},
                                 {"zone", "a"}};
  ChangesAfter("NodeUnschedulable");
  const Json node = Json::parse(changes_[1].step)["create"];
  EXPECT_EQ(node["metadata"]["labels"],
            Json({{"kubernetes.io/hostname", "node-1-new"},
                  {"example.com/host", "node-1-new"},
                  {"example.com/node", "node-1-new"},
                  {"zone", "a"}}));
}

TEST_F(SuggestionsTest, TaintsOfAStateAreNotRemovedByHand) {
  const auto taint = [&](const std::string& key, const char* effect) {
    node_["spec"]["taints"].push_back({{"key", key}, {"effect", effect}});
  };
  taint("node.kubernetes.io/not-ready", "NoSchedule");
  taint("node.kubernetes.io/unreachable", "NoExecute");
  EXPECT_THAT(ChangesAfter("TaintToleration"),
              ElementsAre("node-1 becomes Ready", "one more node like node-1"));
  EXPECT_EQ(Json::parse(changes_[0].step)["patch"]["merge"],
            Json::parse(R"({"spec": {"taints": null}})"));
  taint("node.kubernetes.io/disk-pressure", "NoSchedule");
  taint("gpu", "NoSchedule");
  EXPECT_THAT(ChangesAfter("TaintToleration"),
              ElementsAre("node-1 becomes Ready and the disk pressure of "
                          "node-1 ends and node-1 loses the taint "
                          "gpu:NoSchedule"));
  node_["spec"].erase("taints");
  taint("node.kubernetes.io/unschedulable", "NoSchedule");
  EXPECT_THAT(ChangesAfter("TaintToleration"),
              ElementsAre("node-1 is uncordoned", "one more node like node-1"));
  EXPECT_EQ(changes_[0].step, R"({"uncordon":"node-1"})");
}

TEST_F(SuggestionsTest, AnInitContainerRequestsLess) {
  Container()["resources"]["requests"]["cpu"] = "1";
  const auto init = [](const std::string& name, const std::string& cpu) {
    return Json{{"name", name}, {"resources", {{"requests", {{"cpu", cpu}}}}}};
  };
  pod_["spec"]["initContainers"] = {init("a", "6"), init("b", "6")};
  EXPECT_THAT(ChangesAfter("NodeResourcesFit"),
              ElementsAre("the init container b requests cpu: 4"));
  const Json spec = Json::parse(changes_[0].step)[1]["create"]["spec"];
  EXPECT_EQ(spec["initContainers"][0]["resources"]["requests"]["cpu"], "4");
  EXPECT_EQ(spec["initContainers"][1]["resources"]["requests"]["cpu"], "4");
  Container()["resources"]["requests"]["cpu"] = "5";
  EXPECT_THAT(ChangesAfter("NodeResourcesFit"),
              ElementsAre("the pod requests cpu: 4"));
}

TEST_F(SuggestionsTest, CoresWereMeantAsThousandths) {
  Container()["resources"] = {{"requests", {{"cpu", "500"}}},
                              {"limits", {{"cpu", "500"}}}};
  EXPECT_THAT(
      ChangesAfter("NodeResourcesFit"),
      ElementsAre("the pod requests cpu: 500m", "the pod requests cpu: 4"));
  EXPECT_EQ(
      Json::parse(
          changes_[0].step)[1]["create"]["spec"]["containers"][0]["resources"],
      Json::parse(R"({"requests": {"cpu": "500m"},
                            "limits": {"cpu": "500m"}})"));
}

TEST_F(SuggestionsTest, ATypingErrorOfThePodIsCorrected) {
  node_["metadata"]["labels"]["disktype"] = "ssd";
  pod_["spec"]["nodeSelector"]["disk-type"] = "ssd";
  EXPECT_THAT(
      ChangesAfter("NodeAffinity"),
      ElementsAre("the pod selects disktype=ssd instead of disk-type=ssd",
                  "the pod does not select disk-type=ssd"));
  pod_["spec"].erase("nodeSelector");
  Require({{{"key", "disktype"}, {"operator", "In"}, {"values", {"x", "SSD"}}},
           {{"key", "zone"}, {"operator", "Exists"}}});
  EXPECT_THAT(ChangesAfter("NodeAffinity")[0],
              "the pod requires disktype In (x, ssd) instead of disktype In "
              "(x, SSD)");
}

TEST_F(SuggestionsTest, GreaterGetsAnInteger) {
  node_["metadata"]["labels"]["version"] = "500";
  Require({{{"key", "version"}, {"operator", "Gt"}, {"values", {"150.1"}}}});
  EXPECT_THAT(
      ChangesAfter("NodeAffinity")[0],
      "the pod requires version Gt (150) instead of version Gt (150.1)");
  Require({{{"key", "version"}, {"operator", "Lt"}, {"values", {"600.1"}}}});
  EXPECT_THAT(
      ChangesAfter("NodeAffinity")[0],
      "the pod requires version Lt (601) instead of version Lt (600.1)");
}

TEST(LooksMistypedTest, DiffersInOneLetter) {
  for (const auto& [a, b] : {std::pair("SSD", "ssd"),
                             {"disk-type", "disk_type"},
                             {"disk-type", "disktype"},
                             {"production", "producton"},
                             {"worker", "wokrer"},
                             {"m5.large", "m5-large"}}) {
    EXPECT_TRUE(LooksMistyped(a, b)) << a << " " << b;
    EXPECT_TRUE(LooksMistyped(b, a)) << b << " " << a;
  }
  for (const auto& [a, b] : {std::pair("us-east-1a", "us-east-1b"),
                             {"m5.large", "m6.large"},
                             {"us-east-1", "us-west-1"},
                             {"gpu", "cpu"},
                             {"1.2", "12"},
                             {"ssd", "ssd"},
                             {"a", ""},
                             {"amd64", "arm64"}}) {
    EXPECT_FALSE(LooksMistyped(a, b)) << a << " " << b;
  }
}

TEST_F(SuggestionsTest, ANodeGetsALabelOrThePodSelectsLess) {
  Require(ZoneIs("b"));
  EXPECT_THAT(ChangesAfter("NodeAffinity"),
              ElementsAre("node-1 gets the label zone=b",
                          "the pod does not require zone In (b)"));
  Require(ZoneIs("b"), ZoneIs("c"));
  EXPECT_THAT(ChangesAfter("NodeAffinity"),
              ElementsAre("node-1 gets the label zone=b",
                          "the pod does not require a node affinity"));
}

TEST_F(SuggestionsTest, ANodeLosesALabel) {
  Require({{{"key", "zone"}, {"operator", "DoesNotExist"}}});
  EXPECT_THAT(ChangesAfter("NodeAffinity"),
              ElementsAre("node-1 loses the label zone",
                          "the pod does not require zone DoesNotExist"));
}

TEST_F(SuggestionsTest, TwoPluginsNeedAPairOfChanges) {
  node_["spec"]["taints"] = {{{"key", "gpu"}, {"effect", "NoSchedule"}}};
  other_["resources"]["requests"]["cpu"] = "3";
  Container()["resources"]["requests"]["cpu"] = "2";
  const auto found = Find({"TaintToleration", "NodeResourcesFit"});
  EXPECT_THAT(found.changes, IsEmpty());
  EXPECT_THAT(
      TextsOf(found.pairs),
      ElementsAre(
          "one more node like node-1, and the pod tolerates gpu:NoSchedule",
          "the pod requests cpu: 1, and the pod tolerates gpu:NoSchedule",
          "the pod requests cpu: 1, and node-1 loses the taint "
          "gpu:NoSchedule"));
  EXPECT_EQ(found.pairs[1].changes, 2);
  // The pod is patched after it was replaced.
  const Json steps = Json::parse(found.pairs[1].step);
  ASSERT_EQ(steps.size(), 3);
  EXPECT_TRUE(steps[0].contains("delete"));
  EXPECT_TRUE(steps[1].contains("create"));
  EXPECT_TRUE(steps[2].contains("patch"));
}

TEST_F(SuggestionsTest, TwoChangesOfThePodReplaceItOnce) {
  pod_["spec"]["nodeSelector"]["kubernetes.io/arch"] = "arm64";
  other_["resources"]["requests"]["cpu"] = "3";
  Container()["resources"]["requests"]["cpu"] = "2";
  const auto found = Find({"NodeAffinity", "NodeResourcesFit"});
  ASSERT_EQ(found.pairs.size(), 2);
  EXPECT_EQ(found.pairs[1].text,
            "the pod does not select kubernetes.io/arch=arm64, and the pod "
            "requests cpu: 1");
  const Json steps = Json::parse(found.pairs[1].step);
  ASSERT_EQ(steps.size(), 2);
  const Json& spec = steps[1]["create"]["spec"];
  EXPECT_FALSE(spec["nodeSelector"].contains("kubernetes.io/arch"));
  EXPECT_EQ(spec["containers"][0]["resources"]["requests"]["cpu"], "1");
}

TEST_F(SuggestionsTest, ANewNodeIsInADomainOfItsOwn) {
  pod_["spec"]["affinity"]["podAntiAffinity"] = {
      {"requiredDuringSchedulingIgnoredDuringExecution",
       {{{"topologyKey", "zone"}, {"labelSelector", Json::object()}}}}};
  EXPECT_THAT(ChangesAfter("InterPodAffinity"),
              ElementsAre("one more node like node-1, with zone=a-new",
                          "the pod does not keep away from pods with any "
                          "labels"));
  pod_["spec"]["affinity"]["podAntiAffinity"]
      ["requiredDuringSchedulingIgnoredDuringExecution"][0]["topologyKey"] =
          "name";
  node_["metadata"]["labels"]["name"] = "node-1";
  EXPECT_THAT(ChangesAfter("InterPodAffinity")[0], "one more node like node-1");
}

TEST_F(SuggestionsTest, AnAffinityThatTheNodeMatchesStays) {
  pod_["spec"]["nodeSelector"]["disk"] = "ssd";
  Require(ZoneIs("b"), ZoneIs("a"));
  EXPECT_THAT(ChangesAfter("NodeAffinity"),
              ElementsAre("node-1 gets the label disk=ssd",
                          "the pod does not select disk=ssd"));
}

}  // namespace
}  // namespace minisched::explain
