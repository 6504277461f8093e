// Tests PodTopologySpread's defaultConstraints. Cases with upstream's names are
// from podtopologyspread/{filtering,scoring}_test.go.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "plugins/pod_topology_spread.h"
#include "tests/args_testing.h"
#include "tests/handle_testing.h"
#include "tests/hints_testing.h"
#include "tests/informers_testing.h"
#include "tests/spread_testing.h"
#include "tests/status_testing.h"

namespace minisched {
namespace {

constexpr char kHardByNode[] =
    "{maxSkew: 1, topologyKey: node, whenUnsatisfiable: DoNotSchedule}";
constexpr char kHardByZone[] =
    "{maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}";
constexpr char kSoftByNode[] =
    "{maxSkew: 1, topologyKey: node, whenUnsatisfiable: ScheduleAnyway}";
constexpr char kSoftByZone[] =
    "{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}";

Service SelectingService(const std::string& labels) {
  Service service;
  service.metadata.namespace_name = "default";
  service.metadata.name = "service";
  service.spec.selector = ParseLabels(labels);
  return service;
}

// The plugin with a list of default constraints, in a cluster with a service.
class DefaultConstraintsTest : public ::testing::Test {
 protected:
  void Use(const std::vector<std::string>& constraints,
           const std::string& service = "foo") {
    std::string list;
    for (const std::string& one : constraints) list += one + ", ";
    informers_ = std::make_unique<InformersOf>(SelectingService(service));
    plugin_ = std::make_unique<PodTopologySpread>(
        NewHandle(snapshot_, {.informers = informers_->Get()}),
        ArgsInFile<PodTopologySpreadArgs>(
            "defaultingType: List, defaultConstraints: [" + list + "]"));
  }

  // Returns the nodes that pass Filter, or the status of PreFilter.
  std::string Filter(const SpreadCluster& cluster) {
    const SpreadNodes nodes(cluster);
    const Pod pod = PodToSpread(cluster);
    CycleState state;
    PreFilterResult result;
    const Status status = plugin_->PreFilter(state, pod, nodes.all(), result);
    if (!status.IsSuccess()) return Describe(status);
    std::string passed;
    for (const NodeInfo* node : nodes.all()) {
      if (!plugin_->Filter(state, pod, *node).IsSuccess()) continue;
      passed += (passed.empty() ? "" : " ") + node->node().metadata.name;
    }
    return passed;
  }

  // Returns the normalized scores of all nodes, or the status of PreScore.
  std::string Score(const SpreadCluster& cluster) {
    const SpreadNodes nodes(cluster);
    snapshot_ = Snapshot();
    for (const NodeInfo* node : nodes.all()) snapshot_.Set(*node);
    snapshot_.RebuildLists();
    const Pod pod = PodToSpread(cluster);
    CycleState state;
    const Status status = plugin_->PreScore(state, pod, snapshot_.List());
    if (!status.IsSuccess()) return Describe(status);
    std::vector<NodeScore> scores;
    for (const NodeInfo* node : nodes.all()) {
      NodeScore& score = scores.emplace_back(NodeScore{node, 0});
      plugin_->Score(state, pod, *node, score.score);
    }
    plugin_->NormalizeScore(state, pod, scores);
    std::string text;
    for (const NodeScore& score : scores) {
      text += (text.empty() ? "" : " ") + score.node->node().metadata.name +
              ":" + std::to_string(score.score);
    }
    return text;
  }

  // Returns the hint for a pod without constraints if this pod is deleted.
  QueueingHint AfterDeleted(const std::string& pod) {
    return HintAfter(*plugin_, PodToSpread({}),
                     {{EventResource::kAssignedPod, action::kDelete}},
                     std::make_shared<const Pod>(PodOnNode(pod)), {});
  }

  Snapshot snapshot_;
  std::unique_ptr<InformersOf> informers_;
  std::unique_ptr<PodTopologySpread> plugin_;
};

constexpr char kPodsInZone1[] = "a:foo a:foo b:foo";

TEST_F(DefaultConstraintsTest, DefaultConstraintsAndAService) {
  Use({kHardByNode, kSoftByNode, kHardByZone});
  EXPECT_EQ(Filter({.pods = kPodsInZone1}), "x y");
  EXPECT_EQ(Filter({.pods = "a:foo x:foo"}), "b y");
  EXPECT_EQ(Filter({.pods = "a:bar b:bar"}), "a b x y")
      << "the service doesn't select them";
}

TEST_F(DefaultConstraintsTest, DefaultConstraintsAndAServiceThatDoesntMatch) {
  Use({kHardByNode}, "baz");
  EXPECT_EQ(Filter({.pods = kPodsInZone1}), "Skip");
}

TEST_F(DefaultConstraintsTest,
       DefaultConstraintsAndAServiceButPodHasConstraints) {
  Use({kHardByNode});
  EXPECT_EQ(Filter({.constraints = "1 zone foo; 2 planet fot soft",
                    .pods = kPodsInZone1}),
            "x y");
  EXPECT_EQ(Filter({.constraints = "1 zone foo soft", .pods = kPodsInZone1}),
            "Skip");
}

TEST_F(DefaultConstraintsTest, DefaultSoftConstraintsAndAService) {
  Use({kSoftByNode});
  EXPECT_EQ(Filter({.pods = kPodsInZone1}), "Skip");
}

TEST_F(DefaultConstraintsTest, DefaultConstraintsAndAReplicaset) {
  Use({kSoftByZone, kHardByNode});
  EXPECT_EQ(Score({.pods = kPodsInZone1}), "a:0 b:0 x:100 y:100");
  Use({kHardByNode});
  EXPECT_EQ(Score({.pods = kPodsInZone1}), "Skip");
}

TEST_F(DefaultConstraintsTest,
       DefaultConstraintsAndAReplicasetButPodHasConstraints) {
  Use({kSoftByNode});
  EXPECT_EQ(Score({.constraints = "1 zone foo soft", .pods = kPodsInZone1}),
            "a:0 b:0 x:100 y:100");
  EXPECT_EQ(Score({.constraints = "1 zone foo", .pods = kPodsInZone1}), "Skip");
}

TEST_F(DefaultConstraintsTest, AnEmptyListTurnsTheSystemsDefaultsOff) {
  Use({});
  const std::string hosts =
      "a kubernetes.io/hostname=a; b kubernetes.io/hostname=b";
  EXPECT_EQ(Score({.nodes = hosts, .pods = "a:foo"}), "Skip");
  plugin_ = std::make_unique<PodTopologySpread>(
      NewHandle(snapshot_, {.informers = informers_->Get()}));
  EXPECT_EQ(Score({.nodes = hosts, .pods = "a:foo"}), "a:66 b:100");
}

// Unlike the system's defaults, a list scores only nodes with all its keys.
TEST_F(DefaultConstraintsTest, NodesWithoutAKeyAreNotScored) {
  Use({kSoftByNode, kSoftByZone});
  EXPECT_EQ(Score({.nodes = "a zone=1 node=a; b zone=1; x zone=2 node=x",
                   .pods = "a:foo"}),
            "a:0 b:0 x:100");
}

TEST_F(DefaultConstraintsTest, APodOfTheServiceWakesThePod) {
  Use({kHardByNode});
  EXPECT_EQ(AfterDeleted("a:foo"), QueueingHint::kQueue);
  EXPECT_EQ(AfterDeleted("a:bar"), QueueingHint::kSkip);
  Use({kSoftByNode});
  EXPECT_EQ(AfterDeleted("a:foo"), QueueingHint::kSkip);
}

TEST_F(DefaultConstraintsTest, ANodeWithTheKeysWakesThePod) {
  Use({kHardByNode});
  const auto added = [&](const std::string& labels) {
    Node node;
    node.metadata.labels = ParseLabels(labels);
    return HintAfter(*plugin_, PodToSpread({}),
                     {{EventResource::kNode, action::kAdd}}, {},
                     std::make_shared<const Node>(node));
  };
  EXPECT_EQ(added("node=n"), QueueingHint::kQueue);
  EXPECT_EQ(added("zone=1"), QueueingHint::kSkip);
}

TEST_F(DefaultConstraintsTest, OwnLabelsWakeThePodIfTheServiceSelectsThem) {
  Use({kHardByNode});
  const auto relabeled = [&](const std::string& labels) {
    Pod now = PodToSpread({});
    now.metadata.labels = ParseLabels(labels);
    return HintAfter(*plugin_, PodToSpread({}),
                     {{EventResource::kTargetPod, action::kUpdatePodLabel}},
                     std::make_shared<const Pod>(PodToSpread({})),
                     std::make_shared<const Pod>(now));
  };
  EXPECT_EQ(relabeled("bar"), QueueingHint::kQueue);
  EXPECT_EQ(relabeled("foo bar"), QueueingHint::kSkip);
}

}  // namespace
}  // namespace minisched
