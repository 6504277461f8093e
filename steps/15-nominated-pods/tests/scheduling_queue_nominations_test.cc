// The nominations of the queue's pods, and the pods that move when one ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/scheduling_queue_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// Returns a new state of a pod, whose status has the nominated node `node`.
PodPtr Nominated(const std::string& name, const std::string& node,
                 std::int32_t priority = 0) {
  static int version = 1;
  Pod pod = *WithPriority(name, priority);
  pod.metadata.resource_version = std::to_string(++version);
  pod.status.nominated_node_name = node;
  return std::make_shared<const Pod>(pod);
}

// A queue with the plugin Fit, which waits for pods to be deleted.
class NominationsTest : public SchedulingQueueTest {
 protected:
  NominationsTest() {
    framework_.Add(std::make_unique<FakeFilter>(
        "Fit", std::vector<ClusterEventWithHint>{
                   {{EventResource::kPod, action::kDelete}}}));
  }

  // Pops a pod, and requeues it as rejected by Fit.
  void RejectAndNominate(const std::optional<std::string>& node) {
    RejectAndNominate(Pop(), node);
  }
  void RejectAndNominate(QueuedPodInfo info,
                         const std::optional<std::string>& node) {
    info.unschedulable_plugins = {"Fit"};
    queue_.AddUnschedulableIfNotPresent(
        std::move(info),
        node ? NominatingInfo::Override(*node) : NominatingInfo());
  }

  std::string NodeOf(const std::string& name) {
    return queue_.nominator().NominatedNode(*MakePod(name));
  }

  // Returns the names of the pods that have left unschedulablePods.
  std::vector<std::string> Moved() { return After(20 * kSecond); }
};

TEST_F(NominationsTest, AStatusThatAnEarlierSchedulerHasSetCounts) {
  Add(Nominated("a", "node-1"));
  EXPECT_EQ(NodeOf("a"), "node-1");
}

TEST_F(NominationsTest, AFailedAttemptNominatesToAnotherNodeOrNone) {
  Add("a");
  RejectAndNominate("node-1");
  EXPECT_EQ(NodeOf("a"), "node-1");
  queue_.Activate({MakePod("a")});
  RejectAndNominate("node-2");
  EXPECT_EQ(NodeOf("a"), "node-2");
  queue_.Activate({MakePod("a")});
  RejectAndNominate("");
  EXPECT_EQ(NodeOf("a"), "");
}

TEST_F(NominationsTest, AFailedAttemptWithAnUnsetNodeKeepsTheNomination) {
  Add("a");
  RejectAndNominate("node-1");
  queue_.Activate({MakePod("a")});
  RejectAndNominate(std::nullopt);
  EXPECT_EQ(NodeOf("a"), "node-1");
}

// The PATCH with the node is under way.
TEST_F(NominationsTest, AnUpdateThatDoesNotHaveTheNodeYetKeepsIt) {
  Add("a");
  RejectAndNominate("node-1");
  Update(Nominated("a", ""));
  EXPECT_EQ(NodeOf("a"), "node-1");
  Update(Nominated("a", "node-1"));
  EXPECT_EQ(NodeOf("a"), "node-1");
}

TEST_F(NominationsTest, AChangeByAnotherClientCounts) {
  Add(Nominated("a", "node-1"));
  Update(Nominated("a", "node-2"));
  EXPECT_EQ(NodeOf("a"), "node-2");
  Update(Nominated("a", ""));
  EXPECT_EQ(NodeOf("a"), "");
}

TEST_F(NominationsTest, AChangeDuringTheAttemptCountsWhenItEnds) {
  Add(Nominated("a", "node-1"));
  const auto info = Pop();
  Update(Nominated("a", "node-2"));
  EXPECT_EQ(NodeOf("a"), "node-1");
  RejectAndNominate(info, std::nullopt);
  EXPECT_EQ(NodeOf("a"), "node-2");
}

TEST_F(NominationsTest, ADeletedPodHasNoNode) {
  Add(Nominated("a", "node-1"));
  Delete("a");
  EXPECT_EQ(NodeOf("a"), "");
}

TEST_F(NominationsTest, APodThatIsDeletedDuringItsAttemptGetsNoNode) {
  Add("a");
  const auto info = Pop();
  Delete("a");
  RejectAndNominate(info, "node-1");
  EXPECT_EQ(NodeOf("a"), "");
}

TEST_F(NominationsTest, AnAssumedPodHasNoNode) {
  Add(Nominated("a", "node-1"));
  queue_.DeleteNominatedPodIfExists(*Pop().pod);
  EXPECT_EQ(NodeOf("a"), "");
}

// ---- The pods that move when a nomination ends.

class LostNominationTest : public NominationsTest {
 protected:
  // Three pods that Fit rejects, and one that is nominated.
  LostNominationTest() {
    for (const auto& [name, priority] :
         {std::pair("lower", 1), std::pair("equal", 5),
          std::pair("higher", 9)}) {
      Add(WithPriority(name, priority));
      RejectAndNominate(std::nullopt);
    }
    Add(WithPriority("urgent", 5));
    RejectAndNominate("node-1");
  }
};

TEST_F(LostNominationTest, ADeletedPodMovesPodsOfItsPriorityOrALowerOne) {
  queue_.Delete(*WithPriority("urgent", 5));
  EXPECT_THAT(Moved(), ElementsAre("equal", "lower"));
}

TEST_F(LostNominationTest, TheNewNodeOfAFailedAttemptMovesTheOthers) {
  queue_.Activate({WithPriority("urgent", 5)});
  RejectAndNominate("node-2");
  EXPECT_THAT(Moved(), ElementsAre("equal", "lower"));
}

TEST_F(LostNominationTest, TheSameNodeMovesNoPod) {
  queue_.Activate({WithPriority("urgent", 5)});
  RejectAndNominate("node-1");
  Update(Nominated("urgent", "node-1", 5));
  EXPECT_THAT(Moved(), IsEmpty());
}

// The pod itself may fit another node.
TEST_F(LostNominationTest, ANominationThatAnotherClientClearsMovesThePodToo) {
  Update(Nominated("urgent", "node-1", 5));
  Update(Nominated("urgent", "", 5));
  EXPECT_THAT(Moved(), UnorderedElementsAre("urgent", "equal", "lower"));
}

TEST_F(LostNominationTest,
       ANominationThatIsClearedDuringTheAttemptMovesThePodToo) {
  Update(Nominated("urgent", "node-1", 5));
  queue_.Activate({WithPriority("urgent", 5)});
  const auto info = Pop();
  Update(Nominated("urgent", "", 5));
  RejectAndNominate(info, std::nullopt);
  EXPECT_THAT(Moved(), UnorderedElementsAre("urgent", "equal", "lower"));
}

// The nomination has already ended when the update comes.
TEST_F(LostNominationTest, TheSchedulersOwnPatchMovesNoPod) {
  Update(Nominated("urgent", "node-1", 5));
  queue_.Activate({WithPriority("urgent", 5)});
  RejectAndNominate("");
  EXPECT_THAT(Moved(), ElementsAre("equal", "lower"));
  for (const auto& [name, priority] :
       {std::pair("equal", 5), std::pair("lower", 1)}) {
    RejectAndNominate({.pod = WithPriority(name, priority)}, std::nullopt);
  }
  Update(Nominated("urgent", "", 5));
  EXPECT_EQ(NodeOf("urgent"), "");
}

TEST_F(LostNominationTest, AssumingThePodOnItsNodeMovesNoPod) {
  Pod assumed = *WithPriority("urgent", 5);
  assumed.spec.node_name = "node-1";
  queue_.DeleteNominatedPodIfExists(assumed);
  EXPECT_THAT(Moved(), IsEmpty());
}

TEST_F(LostNominationTest, AssumingThePodOnAnotherNodeMovesTheOthers) {
  Pod assumed = *WithPriority("urgent", 5);
  assumed.spec.node_name = "node-2";
  queue_.DeleteNominatedPodIfExists(assumed);
  EXPECT_THAT(Moved(), ElementsAre("equal", "lower"));
}

TEST_F(LostNominationTest, PodsInFlightAreTriedAgain) {
  Add(WithPriority("late", 2));
  Add(WithPriority("late-higher", 8));
  const auto higher = Pop();
  const auto lower = Pop();
  queue_.Delete(*WithPriority("urgent", 5));
  RejectAndNominate(higher, std::nullopt);
  RejectAndNominate(lower, std::nullopt);
  EXPECT_THAT(Moved(), UnorderedElementsAre("equal", "lower", "late"));
}

}  // namespace
}  // namespace minisched
