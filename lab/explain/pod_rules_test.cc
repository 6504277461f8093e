#include "lab/explain/pod_rules.h"

#include <gmock/gmock.h>

#include "minisched/api/json.h"

namespace minisched::explain {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Texts = std::vector<std::string>;

// The nodes a1 and a2 in zone a, b1 in zone b, and c1 without a zone.
class PodRulesTest : public ::testing::Test {
 protected:
  PodRulesTest() {
    AddNode("a1", R"(, "zone": "a")");
    AddNode("a2", R"(, "zone": "a")");
    AddNode("b1", R"(, "zone": "b")");
    AddNode("c1", "");
  }

  void AddNode(const std::string& name, const std::string& labels) {
    nodes_.emplace(name, NodeState(FromJson<Node>(
                             R"({"metadata": {"name": ")" + name +
                             R"(", "labels": {"kubernetes.io/hostname": ")" +
                             name + "\"" + labels + "}}}")));
  }
  // Returns a pod with these terms of `kind`, such as podAffinity.
  static std::string PodWith(const std::string& name, const std::string& labels,
                             const std::string& kind = "podAffinity",
                             const std::string& terms = "",
                             const std::string& ns = "default") {
    return R"({"metadata": {"name": ")" + name + R"(", "namespace": ")" + ns +
           R"(", "labels": {)" + labels + R"(}}, "spec": {"affinity": {")" +
           kind + R"(": {"requiredDuringSchedulingIgnoredDuringExecution": [)" +
           terms + "]}}}}";
  }
  void Place(const std::string& node, const std::string& pod) {
    nodes_.at(node).AddPod(FromJson<Pod>(pod));
  }
  Texts Causes(const std::string& pod, const std::string& node) const {
    const PodRules rules(FromJson<Pod>(pod), nodes_, namespaces_);
    return rules.CausesOf(nodes_.at(node).node);
  }

  NodeStates nodes_;
  NamespaceLabels namespaces_ = {{"default", {}}, {"prod", {{"tier", "1"}}}};
};

constexpr char kWeb[] = R"("app": "web")";
constexpr char kDb[] = R"("app": "db")";
constexpr char kZoneOfDb[] = R"({"topologyKey": "zone",
    "labelSelector": {"matchLabels": {"app": "db"}}})";
constexpr char kZoneOfWeb[] = R"({"topologyKey": "zone",
    "labelSelector": {"matchLabels": {"app": "web"}}})";
constexpr char kNodeOfWeb[] = R"({"topologyKey": "kubernetes.io/hostname",
    "labelSelector": {"matchLabels": {"app": "web"}}})";

TEST_F(PodRulesTest, RequiredPodsAreInAnotherDomain) {
  const std::string pod = PodWith("p", kWeb, "podAffinity", kZoneOfDb);
  Place("b1", PodWith("db-0", kDb));
  EXPECT_THAT(Causes(pod, "a1"),
              ElementsAre("requires pods with app=db in the same zone, "
                          "zone=b has default/db-0 on b1"));
  EXPECT_THAT(Causes(pod, "b1"), IsEmpty());
  EXPECT_THAT(Causes(pod, "c1"),
              ElementsAre("requires pods with app=db in the same zone, the "
                          "node has no label zone"));
}

TEST_F(PodRulesTest, RequiredPodsAreNowhere) {
  const std::string pod = PodWith("p", kWeb, "podAffinity", kZoneOfDb);
  EXPECT_THAT(Causes(pod, "a1"),
              ElementsAre("requires pods with app=db in the same zone, no "
                          "node has such a pod"));
  Place("c1", PodWith("db-0", kDb));  // a node without the label
  EXPECT_THAT(Causes(pod, "a1"),
              ElementsAre("requires pods with app=db in the same zone, the "
                          "node of default/db-0 has no label zone"));
}

TEST_F(PodRulesTest, RequiredPodsAreInAnotherNamespace) {
  Place("a1", PodWith("db-0", kDb, "podAffinity", "", "prod"));
  EXPECT_THAT(Causes(PodWith("p", kWeb, "podAffinity", kZoneOfDb), "a1"),
              ElementsAre("requires pods with app=db in the same zone, such "
                          "pods are only in the namespace prod"));
  const auto selecting = [](const std::string& namespaces) {
    return PodWith("p", kWeb, "podAffinity",
                   R"({"topologyKey": "zone", "labelSelector": {"matchLabels":
                       {"app": "db"}}, )" +
                       namespaces + "}");
  };
  EXPECT_THAT(Causes(selecting(R"("namespaces": ["prod"])"), "a1"), IsEmpty());
  EXPECT_THAT(Causes(selecting(R"("namespaceSelector": {})"), "a1"), IsEmpty());
  EXPECT_THAT(
      Causes(selecting(R"("namespaceSelector": {"matchLabels":
                          {"tier": "1"}})"),
             "b1"),
      ElementsAre("requires pods with app=db of the namespace prod in the "
                  "same zone, zone=a has prod/db-0 on a1"));
}

TEST_F(PodRulesTest, OnePodMustMatchAllTerms) {
  const std::string pod = PodWith("p", R"("x": "y")", "podAffinity",
                                  std::string(kZoneOfDb) + "," + kNodeOfWeb);
  Place("a1", PodWith("db-0", kDb));
  Place("a1", PodWith("web-0", kWeb));
  EXPECT_THAT(Causes(pod, "a1"),
              ElementsAre("requires one pod that matches all 2 terms, no pod "
                          "does (app=db: default/db-0, app=web: "
                          "default/web-0)"));
}

TEST_F(PodRulesTest, TheFirstPodOfItsGroupNeedsOnlyTheLabel) {
  const std::string pod = PodWith("p", kDb, "podAffinity", kZoneOfDb);
  EXPECT_THAT(Causes(pod, "a1"), IsEmpty());
  EXPECT_THAT(Causes(pod, "c1"),
              ElementsAre("requires pods with app=db in the same zone, the "
                          "node has no label zone"));
}

TEST_F(PodRulesTest, PodsThatThePodAvoidsAreCounted) {
  const std::string pod = PodWith("p", kDb, "podAntiAffinity",
                                  std::string(kZoneOfWeb) + "," + kNodeOfWeb);
  Place("a1", PodWith("web-0", kWeb));
  Place("a1", PodWith("web-1", kWeb));
  EXPECT_THAT(Causes(pod, "a1"),
              ElementsAre("keeps away from pods with app=web, zone=a has "
                          "default/web-0 on a1 and 1 more",
                          "keeps away from pods with app=web, the node has "
                          "default/web-0 and 1 more"));
  EXPECT_THAT(Causes(pod, "a2"),
              ElementsAre("keeps away from pods with app=web, zone=a has "
                          "default/web-0 on a1 and 1 more"));
  EXPECT_THAT(Causes(pod, "b1"), IsEmpty());
}

TEST_F(PodRulesTest, OtherPodsKeepThePodAway) {
  Place("a1", PodWith("db-0", kDb, "podAntiAffinity", kZoneOfWeb));
  Place("a2", PodWith("db-1", kDb, "podAntiAffinity",
                      std::string(kZoneOfWeb) + "," + kZoneOfWeb));
  Place("b1", PodWith("far", kDb, "podAntiAffinity", kZoneOfWeb, "prod"));
  EXPECT_THAT(Causes(PodWith("p", kWeb), "a2"),
              ElementsAre("default/db-0 on a1 keeps pods with app=web out of "
                          "zone=a (1 more pods do so)"));
  EXPECT_THAT(Causes(PodWith("p", kWeb), "b1"), IsEmpty());
  EXPECT_THAT(Causes(PodWith("p", kDb), "a1"), IsEmpty());
}

TEST_F(PodRulesTest, PodsThatAvoidEachOtherHaveOneCause) {
  Place("b1", PodWith("web-0", kWeb, "podAntiAffinity", kNodeOfWeb));
  EXPECT_THAT(Causes(PodWith("p", kWeb, "podAntiAffinity", kNodeOfWeb), "b1"),
              ElementsAre("keeps away from pods with app=web, the node has "
                          "default/web-0, which keeps this pod away, too"));
}

TEST_F(PodRulesTest, ATermWithoutALabelSelectorSelectsNoPod) {
  Place("a1", PodWith("web-0", kWeb));
  EXPECT_THAT(
      Causes(PodWith("p", kDb, "podAntiAffinity", R"({"topologyKey": "zone"})"),
             "a1"),
      IsEmpty());
}

}  // namespace
}  // namespace minisched::explain
