#include "lab/explain/rule_changes.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "lab/explain/rules.h"
#include "minisched/api/json.h"

namespace minisched::explain {
namespace {

using ::testing::ElementsAre;

using Json = nlohmann::json;
using Texts = std::vector<std::string>;

// The node n1 with a pod, and the node n2.
class RuleChangesTest : public ::testing::Test {
 protected:
  RuleChangesTest() {
    for (const char* name : {"n1", "n2"}) {
      nodes_.emplace(
          name, NodeState(FromJson<Node>(
                    Json({{"metadata",
                           {{"name", name}, {"labels", {{"zone", name}}}}}})
                        .dump())));
    }
    nodes_.at("n1").AddPod(FromJson<Pod>(
        R"({"metadata": {"name": "db-0", "namespace": "prod",
            "labels": {"app": "db"}}})"));
  }

  // Returns the changes for n2, or for another node.
  std::vector<SortedChange> Changes(const std::string& node = "n2") const {
    const Pod pod = FromJson<Pod>(pod_.dump());
    const Rules rules(pod, nodes_, {{"default", {}}, {"prod", {}}});
    const Node& object = nodes_.at(node).node;
    auto changes = PodRuleChanges(pod_, *rules.pods, object);
    for (const auto& each : SpreadChanges(pod_, *rules.spread, object)) {
      changes.push_back(each);
    }
    return changes;
  }
  static Texts TextsOf(const std::vector<SortedChange>& changes) {
    Texts texts;
    for (const auto& [sort, change] : changes) texts.push_back(change.text);
    return texts;
  }
  static Json Created(const SortedChange& change) {
    return Json::parse(change.second.step)[1]["create"]["spec"];
  }
  // Sets the only required term of affinity or anti-affinity.
  Json& SetTerm(const char* kind, const std::string& app) {
    Json& terms = pod_["spec"]["affinity"][kind]
                      ["requiredDuringSchedulingIgnoredDuringExecution"];
    terms = {{{"topologyKey", "zone"},
              {"labelSelector", {{"matchLabels", {{"app", app}}}}}}};
    return terms[0];
  }
  Json& SetSpread() {
    pod_["spec"]["topologySpreadConstraints"] = {
        {{"topologyKey", "zone"},
         {"maxSkew", 1},
         {"whenUnsatisfiable", "DoNotSchedule"},
         {"labelSelector", {{"matchLabels", {{"app", "web"}}}}}}};
    return pod_["spec"]["topologySpreadConstraints"][0];
  }
  void Place(const char* node) {
    nodes_.at(node).AddPod(FromJson<Pod>(
        R"({"metadata": {"name": "web-0", "namespace": "default",
            "labels": {"app": "web"}}})"));
  }

  NodeStates nodes_;
  Json pod_ = {{"metadata",
                {{"name", "web"},
                 {"namespace", "default"},
                 {"labels", {{"app", "web"}}}}},
               {"spec", {{"containers", Json::array()}}}};
};

TEST_F(RuleChangesTest, TheNamespaceOfTheRequiredPodsIsAdded) {
  SetTerm("podAffinity", "db");
  const auto changes = Changes();
  EXPECT_THAT(
      TextsOf(changes),
      ElementsAre("the pod's affinity also selects the namespace prod",
                  "the pod does not require pods with app=db in the same "
                  "zone"));
  EXPECT_EQ(
      Created(changes[0])["affinity"]["podAffinity"]
                         ["requiredDuringSchedulingIgnoredDuringExecution"][0]
                         ["namespaces"],
      Json({"default", "prod"}));
}

TEST_F(RuleChangesTest, ANodeGetsTheDomainOfTheRequiredPods) {
  SetTerm("podAffinity", "db")["namespaces"] = {"prod"};
  nodes_.at("n2").node.metadata.labels.clear();
  EXPECT_THAT(TextsOf(Changes()),
              ElementsAre("n2 gets the label zone=n1",
                          "the pod does not require pods with app=db of the "
                          "namespace prod in the same zone"));
}

TEST_F(RuleChangesTest, ThePodInTheWayIsDeletedUnlessItIsAlike) {
  SetTerm("podAntiAffinity", "db")["namespaces"] = {"prod"};
  EXPECT_THAT(TextsOf(Changes("n1")),
              ElementsAre("the pod prod/db-0, which keeps this pod away from "
                          "n1, is deleted",
                          "the pod does not keep away from pods with app=db of "
                          "the namespace prod"));
  SetTerm("podAntiAffinity", "web");
  Place("n2");
  EXPECT_THAT(TextsOf(Changes()),
              ElementsAre("the pod does not keep away from pods with app=web"));
}

TEST_F(RuleChangesTest, ASpreadIsLoosened) {
  Json& rule = SetSpread();
  Place("n2");
  rule["minDomains"] = 2;
  nodes_.at("n1").node.spec.taints = {{.key = "x", .effect = "NoSchedule"}};
  const auto changes = Changes();
  EXPECT_THAT(
      TextsOf(changes),
      ElementsAre("the pod spreads by zone with nodeTaintsPolicy: Honor",
                  "the pod spreads by zone with maxSkew: 2",
                  "the pod only prefers to spread by zone"));
  // The server refuses minDomains without DoNotSchedule.
  EXPECT_FALSE(Created(changes[2])["topologySpreadConstraints"][0].contains(
      "minDomains"));
}

TEST_F(RuleChangesTest, AMissingLabelIsAddedOrReplaced) {
  SetSpread();
  nodes_.at("n2").node.metadata.labels = {{"x.io/zone", "a"}};
  EXPECT_THAT(TextsOf(Changes()),
              ElementsAre("n2 gets the label zone=n1",
                          "the pod spreads by x.io/zone instead of zone",
                          "the pod only prefers to spread by zone"));
}

}  // namespace
}  // namespace minisched::explain
