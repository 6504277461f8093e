#include "queue/in_flight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// With cases of Test_InFlightPods of upstream's scheduling_queue_test.go.
class InFlightTest : public ::testing::Test {
 protected:
  // Records that a node was added. Returns a pointer that expires when the
  // change is no longer recorded.
  std::weak_ptr<const Node> RecordNode(const std::string& name) {
    auto node = std::make_shared<Node>();
    node->metadata.name = name;
    in_flight_.Record({{EventResource::kNode, action::kAdd}, {}, node});
    return node;
  }

  // Returns the names of the nodes that were added since the pod was popped.
  std::vector<std::string> NodesSincePop(const std::string& uid) const {
    std::vector<std::string> names;
    in_flight_.AnyChangeSincePop(uid, [&](const ClusterChange& change) {
      names.push_back(change.New<Node>()->metadata.name);
      return false;
    });
    return names;
  }

  InFlight in_flight_;
};

TEST_F(InFlightTest, HasThePodsThatWereAddedAndNotRemoved) {
  in_flight_.Add("a");
  EXPECT_TRUE(in_flight_.Has("a"));
  EXPECT_FALSE(in_flight_.Has("b"));
  in_flight_.Remove("a");
  EXPECT_FALSE(in_flight_.Has("a"));
}

TEST_F(InFlightTest, APodHasNoChangesAtFirst) {
  in_flight_.Add("a");
  EXPECT_THAT(NodesSincePop("a"), IsEmpty());
}

TEST_F(InFlightTest, APodHasTheChangesSinceItsPopInTheirOrder) {
  in_flight_.Add("a");
  RecordNode("node-1");
  in_flight_.Add("b");
  RecordNode("node-2");
  in_flight_.Add("c");
  RecordNode("node-3");
  EXPECT_THAT(NodesSincePop("a"), ElementsAre("node-1", "node-2", "node-3"));
  EXPECT_THAT(NodesSincePop("b"), ElementsAre("node-2", "node-3"));
  EXPECT_THAT(NodesSincePop("c"), ElementsAre("node-3"));
}

TEST_F(InFlightTest, RecordsNothingWhileNoPodIsInFlight) {
  EXPECT_TRUE(RecordNode("node-1").expired());
  in_flight_.Add("a");
  EXPECT_THAT(NodesSincePop("a"), IsEmpty());
  in_flight_.Remove("a");
  EXPECT_TRUE(RecordNode("node-2").expired());
}

TEST_F(InFlightTest, APodThatIsPoppedAgainHasTheChangesSinceTheLastPop) {
  in_flight_.Add("a");
  in_flight_.Add("b");
  RecordNode("node-1");
  in_flight_.Remove("a");
  in_flight_.Add("a");
  RecordNode("node-2");
  EXPECT_THAT(NodesSincePop("a"), ElementsAre("node-2"));
  EXPECT_THAT(NodesSincePop("b"), ElementsAre("node-1", "node-2"));
}

TEST_F(InFlightTest, RemoveForgetsTheChangesBeforeTheNextPod) {
  in_flight_.Add("a");
  const auto first = RecordNode("node-1");
  const auto second = RecordNode("node-2");
  in_flight_.Add("b");
  const auto third = RecordNode("node-3");
  in_flight_.Remove("a");
  EXPECT_TRUE(first.expired());
  EXPECT_TRUE(second.expired());
  EXPECT_THAT(NodesSincePop("b"), ElementsAre("node-3"));
  in_flight_.Remove("b");
  EXPECT_TRUE(third.expired());
}

TEST_F(InFlightTest, RemoveKeepsTheChangesOfAnEarlierPod) {
  in_flight_.Add("a");
  const auto first = RecordNode("node-1");
  in_flight_.Add("b");
  const auto second = RecordNode("node-2");
  in_flight_.Remove("b");
  EXPECT_THAT(NodesSincePop("a"), ElementsAre("node-1", "node-2"));
  in_flight_.Remove("a");
  EXPECT_TRUE(first.expired());
  EXPECT_TRUE(second.expired());
}

TEST_F(InFlightTest, RemoveIgnoresAPodThatIsNotInFlight) {
  in_flight_.Add("a");
  RecordNode("node-1");
  in_flight_.Remove("b");
  EXPECT_THAT(NodesSincePop("a"), ElementsAre("node-1"));
  in_flight_.Remove("a");
  in_flight_.Remove("a");
  EXPECT_FALSE(in_flight_.Has("a"));
}

}  // namespace
}  // namespace minisched
