#include "lab/explain/spread_rules.h"

#include <gmock/gmock.h>

#include "minisched/api/json.h"

namespace minisched::explain {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Texts = std::vector<std::string>;

// The nodes a, b and c, each in a zone of its own.
class SpreadRulesTest : public ::testing::Test {
 protected:
  SpreadRulesTest() {
    for (const char* name : {"a", "b", "c"}) AddNode(name);
  }

  void AddNode(const std::string& name, const std::string& key = "zone",
               const std::string& taints = "") {
    nodes_.emplace(name, NodeState(FromJson<Node>(
                             R"({"metadata": {"name": ")" + name +
                             R"(", "labels": {")" + key + R"(": ")" + name +
                             R"("}}, "spec": {"taints": [)" + taints + "]}}")));
  }
  static std::string PodWith(const std::string& labels,
                             const std::string& constraint = "",
                             const std::string& more = "") {
    return R"({"metadata": {"namespace": "default", "labels": {)" + labels +
           R"(}}, "spec": {)" + more + R"("topologySpreadConstraints": [)" +
           constraint + "]}}";
  }
  // Returns a constraint that spreads the pods with app=web by zone.
  static std::string Spread(const std::string& more = "") {
    return R"({"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}}, "maxSkew": 1)" +
           more + "}";
  }
  void Place(const std::string& node, int count,
             const std::string& pod = PodWith(R"("app": "web")")) {
    for (int i = 0; i < count; ++i) {
      nodes_.at(node).AddPod(FromJson<Pod>(pod));
    }
  }
  Texts Causes(const std::string& pod, const std::string& node) const {
    return SpreadRules(FromJson<Pod>(pod), nodes_)
        .CausesOf(nodes_.at(node).node);
  }
  static std::string Web(const std::string& constraint = Spread(),
                         const std::string& more = "") {
    return PodWith(R"("app": "web")", constraint, more);
  }

  NodeStates nodes_;
};

TEST_F(SpreadRulesTest, TheDomainsAreCounted) {
  Place("a", 2);
  Place("b", 1);
  EXPECT_THAT(Causes(Web(), "a"),
              ElementsAre("spread by zone: with this pod, a has 3 pods with "
                          "app=web, and may have 1 (c 0, b 1, a 2; maxSkew "
                          "1)"));
  EXPECT_THAT(Causes(Web(), "c"), IsEmpty());
}

TEST_F(SpreadRulesTest, ThePodMayNotCountItself) {
  Place("a", 2);
  EXPECT_THAT(Causes(PodWith(R"("app": "db")", Spread()), "a"),
              ElementsAre("spread by zone: a has 2 pods with app=web, and may "
                          "have 1 (b 0, c 0, a 2; maxSkew 1)"));
}

TEST_F(SpreadRulesTest, OtherNamespacesAndEndingPodsDoNotCount) {
  Place("a", 1, R"({"metadata": {"namespace": "x", "labels":
                    {"app": "web"}}})");
  Place("a", 1, R"({"metadata": {"namespace": "default", "labels":
                    {"app": "web"}, "deletionTimestamp":
                    "2026-01-01T00:00:00Z"}})");
  EXPECT_THAT(Causes(Web(), "a"), IsEmpty());
}

TEST_F(SpreadRulesTest, FewDomainsHaveTheMinimumZero) {
  for (const char* node : {"a", "b", "c"}) Place(node, 1);
  EXPECT_THAT(Causes(Web(), "a"), IsEmpty());
  EXPECT_THAT(Causes(Web(Spread(R"(, "minDomains": 4)")), "a"),
              ElementsAre("spread by zone: with this pod, a has 2 pods with "
                          "app=web, and may have 1 (a 1, b 1, c 1; maxSkew 1; "
                          "the minimum is 0, because minDomains is 4)"));
}

TEST_F(SpreadRulesTest, PoliciesLeaveOutNodes) {
  AddNode("d", "zone", R"({"key": "gpu", "effect": "NoSchedule"})");
  for (const char* node : {"a", "b", "c"}) Place(node, 1);
  EXPECT_THAT(Causes(Web(), "a"),
              ElementsAre("spread by zone: with this pod, a has 2 pods with "
                          "app=web, and may have 1 (d 0, a 1, b 1, c 1; "
                          "maxSkew 1)"));
  EXPECT_THAT(Causes(Web(Spread(R"(, "nodeTaintsPolicy": "Honor")")), "a"),
              IsEmpty());
  const std::string selector = R"("nodeSelector": {"zone": "a"}, )";
  EXPECT_THAT(Causes(Web(Spread(), selector), "a"), IsEmpty());
  EXPECT_THAT(
      Causes(Web(Spread(R"(, "nodeAffinityPolicy": "Ignore")"), selector), "a")
          .size(),
      1);
}

TEST_F(SpreadRulesTest, MatchLabelKeysNarrowTheSelector) {
  Place("a", 1);
  Place("a", 1, PodWith(R"("app": "web", "hash": "1")"));
  const std::string spread = Spread(R"(, "matchLabelKeys": ["hash"])");
  EXPECT_THAT(Causes(PodWith(R"("app": "web", "hash": "1")", spread), "a"),
              ElementsAre("spread by zone: with this pod, a has 2 pods with "
                          "app=web,hash in (1), and may have 1 (b 0, c 0, a 1; "
                          "maxSkew 1)"));
}

TEST_F(SpreadRulesTest, ALabelIsMissing) {
  AddNode("d", "topology.kubernetes.io/zone");
  AddNode("e", "rack");
  Place("e", 3);  // counts nowhere
  EXPECT_THAT(Causes(Web(), "d"),
              ElementsAre("spread by zone: the node has no label zone (but "
                          "topology.kubernetes.io/zone)"));
  EXPECT_THAT(Causes(Web(), "e"),
              ElementsAre("spread by zone: the node has no label zone"));
  EXPECT_THAT(Causes(Web(), "a"), IsEmpty());
}

TEST_F(SpreadRulesTest, ManyDomainsAreCutOff) {
  Place("a", 1);
  for (const char* name : {"d", "e", "f"}) AddNode(name);
  EXPECT_THAT(Causes(Web(), "a"),
              ElementsAre("spread by zone: with this pod, a has 2 pods with "
                          "app=web, and may have 1 (b 0, c 0, d 0, e 0, f 0, … "
                          "(6 domains); maxSkew 1)"));
}

}  // namespace
}  // namespace minisched::explain
