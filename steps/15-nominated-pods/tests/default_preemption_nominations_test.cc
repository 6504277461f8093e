// Preemption on nodes to which other pods are nominated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/default_preemption_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Pod Preemptor(int cpu = 4) {
  return NewPodOf("urgent", {.priority = 9, .cpu = cpu});
}

// The pod as the API server has it after its own preemption.
Pod NominatedTo(const std::string& node, const std::string& name, int priority,
                int cpu) {
  Pod pod = NewPodOf(name, {.priority = priority, .cpu = cpu});
  pod.status.nominated_node_name = node;
  return pod;
}

class NominationsOfOthersTest : public DefaultPreemptionTest {
 protected:
  // Returns the names of the pods whose nomination was cleared. REQUIRES: no
  // request is under way.
  std::vector<std::string> ClearedNominations() {
    std::vector<std::string> names;
    for (const ServerRequest& write : cluster_.AwaitWrites(2)) {
      if (write.body.find(R"("nominatedNodeName":null)") == std::string::npos) {
        continue;
      }
      constexpr std::string_view kPods = "/api/v1/namespaces/default/pods/";
      const std::string rest = write.target.substr(kPods.size());
      names.push_back(rest.substr(0, rest.find('/')));
    }
    return names;
  }
};

TEST_F(NominationsOfOthersTest, DoesNotRelyOnTheVictimsOfAnotherPreemptor) {
  const Pod other = NominatedTo("node-1", "other", 9, 4);
  Start({NewNodeOf("node-1", 4), NewNodeOf("node-2", 4)},
        {Preemptor(), other, NewPodOf("a", {.cpu = 4, .node = "node-1"}),
         NewPodOf("b", {.priority = 1, .cpu = 4, .node = "node-2"})});
  EXPECT_EQ(PostFilter(Preemptor()), Found("node-2"));
}

TEST_F(NominationsOfOthersTest, TwoPreemptorsCanShareANode) {
  const Pod other = NominatedTo("node-1", "other", 9, 2);
  Start({NewNodeOf("node-1", 4)},
        {Preemptor(2), other, NewPodOf("a", {.cpu = 2, .node = "node-1"}),
         NewPodOf("b", {.priority = 1, .cpu = 2, .node = "node-1"})});
  EXPECT_EQ(PostFilter(Preemptor(2)), Found("node-1", 2));
  AwaitEvictions();
}

TEST_F(NominationsOfOthersTest, PodsOfLowerPriorityLoseTheirNomination) {
  const Pod lesser = NominatedTo("node-1", "lesser", 5, 1);
  const Pod elsewhere = NominatedTo("node-2", "elsewhere", 5, 1);
  Start({NewNodeOf("node-1", 4)},
        {Preemptor(), lesser, elsewhere,
         NewPodOf("a", {.cpu = 4, .node = "node-1"})});
  EXPECT_EQ(PostFilter(Preemptor()), Found("node-1"));
  AwaitEvictions();
  EXPECT_THAT(ClearedNominations(), ElementsAre("lesser"));
}

// The informer may not have received the nomination yet.
TEST_F(NominationsOfOthersTest, ANominationThatTheInformerLacksIsClearedToo) {
  const Pod lesser = NewPodOf("lesser", {.priority = 5});
  Start({NewNodeOf("node-1", 4)},
        {Preemptor(), lesser, NewPodOf("a", {.cpu = 4, .node = "node-1"})});
  nominator_.Nominate(lesser, "node-1");
  EXPECT_EQ(PostFilter(Preemptor()), Found("node-1"));
  AwaitEvictions();
  EXPECT_THAT(ClearedNominations(), ElementsAre("lesser"));
}

TEST_F(NominationsOfOthersTest, PodsOfTheSamePriorityKeepTheirNomination) {
  const Pod equal = NominatedTo("node-1", "equal", 9, 1);
  Start({NewNodeOf("node-1", 5)},
        {Preemptor(), equal, NewPodOf("a", {.cpu = 5, .node = "node-1"})});
  EXPECT_EQ(PostFilter(Preemptor()), Found("node-1"));
  AwaitEvictions();
  EXPECT_THAT(ClearedNominations(), IsEmpty());
}

// As upstream: without an eviction, nothing is cleared.
TEST_F(NominationsOfOthersTest, PodsKeepTheirNominationIfTheVictimsAreEnding) {
  const Pod lesser = NominatedTo("node-1", "lesser", 5, 1);
  Pod ending = NewPodOf("a", {.cpu = 4, .node = "node-1"});
  ending.metadata.deletion_timestamp = Time();
  Start({NewNodeOf("node-1", 4)}, {Preemptor(), lesser, ending});
  EXPECT_EQ(PostFilter(Preemptor()), Found("node-1"));
  AwaitEvictions();
  EXPECT_THAT(cluster_.AwaitWrites(0), IsEmpty());
}

// The PATCH with the nominated node may be under way.
TEST_F(NominationsOfOthersTest, WaitsForItsVictimsBeforeTheServerHasItsNode) {
  Pod ending = NewPodOf("a", {.cpu = 4, .node = "node-1"});
  ending.metadata.deletion_timestamp = Time();
  ending.status.conditions = {{.type = "DisruptionTarget",
                               .status = "True",
                               .reason = "PreemptionByScheduler"}};
  Start({NewNodeOf("node-1", 4), NewNodeOf("node-2", 4)},
        {Preemptor(), ending, NewPodOf("b", {.cpu = 4, .node = "node-2"})});
  nominator_.Nominate(Preemptor(), "node-1");
  EXPECT_EQ(PostFilter(Preemptor()),
            "Unschedulable: preemption: not eligible due to a terminating pod "
            "on the nominated node.");
  EXPECT_THAT(cluster_.AwaitWrites(0), IsEmpty());
}

}  // namespace
}  // namespace minisched
