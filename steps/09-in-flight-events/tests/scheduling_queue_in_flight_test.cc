// Tests which changes in the middle of an attempt count, and how long they are
// kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/queueing_hints_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// ---- Pods in flight.

TEST_F(QueueingHintsTest, AChangeInFlightThatHelpsIsNotLost) {
  Add("a");
  const QueuedPodInfo info = Pop();
  MoveAll(NodeAdded());
  EXPECT_THAT(CalledHints(), IsEmpty());
  helps_ = {"NodeAffinity"};
  RejectBy(info, {"NodeAffinity"});
  EXPECT_THAT(CalledHints(), ElementsAre("NodeAffinity"));
  EXPECT_THAT(After(kSecond), ElementsAre("a"));
}

TEST_F(QueueingHintsTest, AChangeInFlightThatAHintSkipsDoesNotCount) {
  Add("a");
  const QueuedPodInfo info = Pop();
  MoveAll(NodeAdded());
  MoveAll(PodDeleted(MakePod("b")));
  helps_ = {"TaintToleration", "NodePorts"};
  RejectBy(info, {"NodeAffinity"});
  EXPECT_THAT(CalledHints(), ElementsAre("NodeAffinity"));
  EXPECT_THAT(After(std::chrono::minutes(4)), IsEmpty());
}

TEST_F(QueueingHintsTest, HintsForChangesInFlightReceiveTheNewestPod) {
  Add("a");
  const QueuedPodInfo info = Pop();
  const auto first = NewNode();
  const auto second = NewNode();
  MoveAll({{EventResource::kNode, action::kAdd}, {}, first});
  Update(MakePod("a", "2"));
  MoveAll({{EventResource::kNode, action::kAdd}, {}, second});
  RejectBy(info, {"NodeAffinity"});
  ASSERT_EQ(calls_.size(), 2);
  EXPECT_EQ(calls_[0].change.New<Node>(), first);
  EXPECT_EQ(calls_[1].change.New<Node>(), second);
  EXPECT_EQ(calls_[0].pod->metadata.resource_version, "2");
}

TEST_F(QueueingHintsTest, AChangeBeforeThePopDoesNotCount) {
  for (const char* name : {"a", "b"}) Add(name);
  const QueuedPodInfo first = Pop();
  MoveAll(NodeAdded());
  helps_ = {"NodeAffinity"};
  RejectBy({"NodeAffinity"});
  RejectBy(first, {"NodeAffinity"});
  EXPECT_THAT(After(std::chrono::minutes(4)), ElementsAre("a"));
}

// A pod that failed because of an error is retried in any case.
TEST_F(QueueingHintsTest, AnErrorCallsNoHint) {
  Add("a");
  const QueuedPodInfo info = Pop();
  MoveAll(NodeAdded());
  RejectBy(info, {});
  MoveAll(NodeAdded());
  EXPECT_THAT(CalledHints(), IsEmpty());
  EXPECT_THAT(After(kSecond), ElementsAre("a"));
}

TEST_F(QueueingHintsTest, AnUpdateInFlightCountsForOtherPodsInFlight) {
  for (const char* name : {"a", "b"}) Add(name);
  Pop();
  const QueuedPodInfo other = Pop();
  Update(Tolerating(*MakePod("a")));
  Reject(other);
  EXPECT_THAT(After(kSecond), ElementsAre("b"));
}

TEST_F(QueueingHintsTest, AnUpdateOfAQueuedPodDoesNotCountForPodsInFlight) {
  Add("a");
  const QueuedPodInfo info = Pop();
  Add("b");
  Update(Tolerating(*MakePod("b")));
  EXPECT_THAT(Rest(), ElementsAre("b"));
  Reject(info);
  EXPECT_THAT(After(std::chrono::minutes(4)), IsEmpty());
}

// ---- The changes that are kept for pods in flight.

TEST_F(QueueingHintsTest, KeepsNoChangesWithoutPodsInFlight) {
  Add("a");
  MoveAll(NodeAdded());
  EXPECT_EQ(SchedulingQueuePeer::CountChanges(queue_), 0);
}

TEST_F(QueueingHintsTest, KeepsOnlyChangesThatAPluginRegistered) {
  Add("a");
  Pop();
  MoveAll(action::kUpdateNodeAnnotation);
  EXPECT_EQ(SchedulingQueuePeer::CountChanges(queue_), 0);
  MoveAll(action::kUpdateNodeLabel);
  EXPECT_EQ(SchedulingQueuePeer::CountChanges(queue_), 1);
}

TEST_F(QueueingHintsTest, DropsTheChangesBeforeTheOldestPopInFlight) {
  const auto count = [this] {
    return SchedulingQueuePeer::CountChanges(queue_);
  };
  for (const char* name : {"a", "b", "c"}) Add(name);
  const QueuedPodInfo a = Pop();
  MoveAll(NodeAdded());
  Pop();
  MoveAll(NodeAdded());
  Pop();
  MoveAll(NodeAdded());
  queue_.Done("b");
  EXPECT_EQ(count(), 3);
  RejectBy(a, {"NodeAffinity"});
  EXPECT_EQ(count(), 1);
  queue_.Done("c");
  EXPECT_EQ(count(), 0);
  queue_.Done("c");
  EXPECT_EQ(count(), 0);
}

// If a pod is deleted in flight, its changes are dropped when its attempt ends.
TEST_F(QueueingHintsTest, DropsTheChangesOfADeletedPod) {
  Add("a");
  const QueuedPodInfo info = Pop();
  MoveAll(NodeAdded());
  Delete("a");
  RejectBy(info, {"NodeAffinity"});
  EXPECT_EQ(SchedulingQueuePeer::CountChanges(queue_), 0);
}

}  // namespace
}  // namespace minisched
