// Tests queueing hints: which changes move a rejected pod.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "tests/queueing_hints_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// ---- Pods that wait.

TEST_F(QueueingHintsTest, AHintThatReturnsQueueMovesThePod) {
  Add("a");
  RejectBy({"NodeAffinity"});
  helps_ = {"NodeAffinity"};
  MoveAll(NodeAdded());
  EXPECT_EQ(Record("a").move.event, "NodeAdd");
  EXPECT_THAT(After(kSecond), ElementsAre("a"));
}

TEST_F(QueueingHintsTest, AHintThatReturnsSkipKeepsThePodInItsPlace) {
  Add("a");
  RejectBy({"NodeAffinity"});
  MoveAll(NodeAdded());
  EXPECT_THAT(CalledHints(), ElementsAre("NodeAffinity"));
  EXPECT_EQ(Record("a").move.event, "ScheduleAttemptFailure");
  EXPECT_THAT(After(std::chrono::minutes(5)), IsEmpty());
  clock_.Advance(Clock::Duration(1));
  queue_.FlushUnschedulablePodsLeftover();
  EXPECT_THAT(Rest(), ElementsAre("a"));
}

TEST_F(QueueingHintsTest, AnEventWithoutAHintAlwaysMovesThePod) {
  Add("a");
  RejectBy({"NodeResourcesFit"});
  MoveAll(NodeAdded());
  EXPECT_THAT(CalledHints(), IsEmpty());
  EXPECT_THAT(After(kSecond), ElementsAre("a"));
}

TEST_F(QueueingHintsTest, AnEventThatThePluginDidNotRegisterMovesNoPod) {
  Add("a");
  RejectBy({"NodePorts"});
  helps_ = {"NodePorts", "NodeAffinity"};
  MoveAll(NodeAdded());                    // of other plugins
  MoveAll(action::kUpdateNodeAnnotation);  // of none
  EXPECT_THAT(CalledHints(), IsEmpty());
  EXPECT_THAT(After(kSecond), IsEmpty());
  MoveAll(PodDeleted(MakePod("b")));
  EXPECT_THAT(Rest(), ElementsAre("a"));
}

TEST_F(QueueingHintsTest, AsksOnlyPluginsThatRejectedThePod) {
  for (const char* name : {"a", "b"}) Add(name);
  RejectBy({"NodeAffinity"});
  RejectBy({"TaintToleration"});
  helps_ = {"TaintToleration"};
  MoveAll(NodeAdded());
  EXPECT_THAT(CalledHints(),
              UnorderedElementsAre("NodeAffinity", "TaintToleration"));
  EXPECT_THAT(After(kSecond), ElementsAre("b"));
}

TEST_F(QueueingHintsTest, OnlyTheLastRejectionCounts) {
  Add("a");
  RejectBy({"NodeAffinity"});
  helps_ = {"NodeAffinity", "TaintToleration"};
  MoveAll(NodeAdded());
  clock_.Advance(kSecond);
  queue_.FlushBackoffQCompleted();
  RejectBy({"TaintToleration"});
  calls_.clear();
  MoveAll(action::kUpdateNodeLabel);
  EXPECT_THAT(CalledHints(), IsEmpty());
  EXPECT_THAT(After(std::chrono::minutes(1)), IsEmpty());
}

TEST_F(QueueingHintsTest, OneOfSeveralPluginsSuffices) {
  Add("a");
  Add("b");
  RejectBy({"NodeAffinity", "NodePorts"});
  RejectBy({"NodeAffinity", "TaintToleration"});
  helps_ = {"TaintToleration"};
  MoveAll(NodeAdded());
  EXPECT_THAT(After(kSecond), ElementsAre("b"));
}

TEST_F(QueueingHintsTest, AHintReceivesThePodAndBothObjects) {
  Add("a");
  RejectBy({"NodeAffinity", "NodePorts"});
  Update(MakePod("a", "2"));
  const auto old = NewNode();
  const auto node = NewNode();
  const PodPtr deleted = MakePod("b");
  MoveAll({{EventResource::kNode, action::kUpdateNodeLabel}, old, node});
  MoveAll(PodDeleted(deleted));
  ASSERT_EQ(calls_.size(), 2);
  EXPECT_EQ(calls_[0].pod->metadata.resource_version, "2");
  EXPECT_EQ(calls_[0].change.Old<Node>(), old);
  EXPECT_EQ(calls_[0].change.New<Node>(), node);
  EXPECT_EQ(calls_[1].change.Old<Pod>(), deleted);
  EXPECT_EQ(calls_[1].change.New<Pod>(), nullptr);
}

TEST_F(QueueingHintsTest, ThePodsRecordHasTheEventsOfItsPlugins) {
  Add("a");
  RejectBy({"NodeAffinity", "NodePorts"});
  EXPECT_THAT(Record("a").move.wakes,
              ElementsAre("Node/Add", "Node/UpdateNodeLabel", "Pod/Delete"));
}

// ---- Updates of the pod itself.

TEST_F(QueueingHintsTest, AnUpdateMovesThePodByItsFirstChangeThatHelps) {
  Add("a");
  RejectBy({"NodeUnschedulable"});
  helps_ = {"NodeUnschedulable"};
  Pod changed = *Tolerating(*MakePod("a"));
  changed.metadata.labels["colour"] = "red";  // an earlier event of the update
  Update(std::make_shared<const Pod>(changed));
  EXPECT_EQ(Record("a").move.event, "TargetPodUpdatePodToleration");
  EXPECT_THAT(After(kSecond), ElementsAre("a"));
}

TEST_F(QueueingHintsTest, AHintReceivesBothStatesOfAnUpdatedPod) {
  Add("a");
  RejectBy({"NodeUnschedulable"});
  const PodPtr first = store_.Get("shop", "a");
  const PodPtr second = Tolerating(*first);
  Update(second);
  ASSERT_EQ(calls_.size(), 1);
  EXPECT_EQ(calls_[0].pod->spec.tolerations.size(), 1);
  EXPECT_EQ(calls_[0].change.Old<Pod>(), first);
  EXPECT_EQ(calls_[0].change.New<Pod>(), second);
  EXPECT_THAT(After(std::chrono::minutes(4)), IsEmpty());
}

TEST_F(QueueingHintsTest, AnUpdateThatNoPluginRegisteredMovesNoPod) {
  Add("a");
  RejectBy({"NodePorts"});
  Update(Tolerating(*MakePod("a")));
  EXPECT_THAT(After(std::chrono::minutes(4)), IsEmpty());
}

TEST_F(QueueingHintsTest, AnUpdateDoesNotMoveOtherPods) {
  for (const char* name : {"a", "b"}) Add(name);
  Reject();
  Reject();
  Update(Tolerating(*MakePod("a")));
  EXPECT_THAT(After(kSecond), ElementsAre("a"));
}

TEST_F(QueueingHintsTest, AnUpdateInBackoffCallsNoHint) {
  Add("a");
  RejectBy({"NodeAffinity"});
  helps_ = {"NodeAffinity"};
  MoveAll(NodeAdded());
  calls_.clear();
  Update(Tolerating(*MakePod("a")));
  MoveAll(NodeAdded());
  EXPECT_THAT(CalledHints(), IsEmpty());
  EXPECT_THAT(Rest(), IsEmpty());
  EXPECT_THAT(After(kSecond), ElementsAre("a"));
}

}  // namespace
}  // namespace minisched
