// Tests how many candidates DefaultPreemption looks for. Cases with upstream's
// names are from defaultpreemption/default_preemption_test.go.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/args_testing.h"
#include "tests/default_preemption_testing.h"

namespace minisched {
namespace {

Pod PodThatPreempts() {
  return NewPodOf("preemptor", {.priority = 9, .cpu = 4});
}

class PreemptionArgsTest : public DefaultPreemptionTest {
 protected:
  // Returns the results of forty attempts on five nodes. The pod on node-4 has
  // the lowest priority, so node-4 wins if it is a candidate.
  std::multiset<std::string> Try(const std::string& args) {
    std::vector<Node> nodes;
    std::vector<Pod> pods{PodThatPreempts()};
    for (const char* number : {"1", "2", "3", "4", "5"}) {
      const std::string node = std::string("node-") + number;
      nodes.push_back(NewNodeOf(node, 4));
      pods.push_back(NewPodOf(std::string("p") + number,
                              {.priority = *number == '4' ? 1 : 5,
                               .cpu = 4,
                               .node = node,
                               .labels = {{"app", node}}}));
    }
    Start(nodes, pods, budgets_);
    plugin_ = std::make_unique<DefaultPreemption>(
        NewHandle(snapshot_, {.informers = *informers_,
                              .client = *client_,
                              .waiting_pods = waiting_pods_,
                              .executor = executor_,
                              .cache = cache_,
                              .framework = framework_,
                              .nominator = nominator_,
                              .recorder = *recorder_,
                              .random = random_,
                              .under_way = under_way_,
                              .stop = stop_.get_token()}),
        ArgsInFile<DefaultPreemptionArgs>(args));
    std::multiset<std::string> found;
    for (int i = 0; i < 40; ++i) found.insert(PostFilter(PodThatPreempts()));
    return found;
  }

  std::vector<std::shared_ptr<const PodDisruptionBudget>> budgets_;
};

// 100 by default, which is more than there are.
TEST_F(PreemptionArgsTest, ByDefaultAllNodesOfASmallClusterAreTried) {
  EXPECT_EQ(Try("").count(Found("node-4")), 40);
}

TEST_F(PreemptionArgsTest,
       AllNodesArePossibleCandidatesButDefaultPreemptionArgsLimitsTo2) {
  const auto found =
      Try("minCandidateNodesPercentage: 40, minCandidateNodesAbsolute: 1");
  // node-4 is one of two nodes in 2 of 5 attempts.
  EXPECT_GT(found.count(Found("node-4")), 4);
  EXPECT_LT(found.count(Found("node-4")), 30);
}

TEST_F(PreemptionArgsTest, TheLargerOfBothCounts) {
  EXPECT_EQ(Try("minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 5")
                .count(Found("node-4")),
            40);
}

TEST_F(PreemptionArgsTest, APercentageCanBeEnough) {
  EXPECT_EQ(
      Try("minCandidateNodesPercentage: 100, minCandidateNodesAbsolute: 0")
          .count(Found("node-4")),
      40);
}

TEST_F(PreemptionArgsTest,
       LooksPastNumCandidatesUntilANonPdbViolatingNodeIsFound) {
  for (const char* node : {"node-1", "node-2", "node-4", "node-5"}) {
    budgets_.push_back(NewBudget(node, 0));
  }
  EXPECT_EQ(Try("minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 1")
                .count(Found("node-3")),
            40);
}

}  // namespace
}  // namespace minisched
