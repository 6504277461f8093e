// Tests queueing hints: which changes move a rejected pod.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/scheduling_queue_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// A queue with the plugins NodeAffinity, NodePorts, NodeUnschedulable and
// TaintToleration. The hints of the plugins in helps_ return Queue.
class QueueingHintsTest : public SchedulingQueueTest {
 protected:
  QueueingHintsTest() {
    AddPlugin("NodeAffinity",
              {EventResource::kNode, action::kAdd | action::kUpdateNodeLabel});
    AddPlugin("NodePorts", {EventResource::kPod, action::kDelete});
    AddPlugin("NodeUnschedulable",
              {EventResource::kPod, action::kUpdatePodToleration});
    AddPlugin("TaintToleration",
              {EventResource::kNode, action::kAdd | action::kUpdateNodeTaint});
  }

  // One call of a hint.
  struct Call {
    std::string_view plugin;
    PodPtr pod;
    ClusterChange change;
  };

  // Pops a pod and requeues it as rejected by these plugins.
  void RejectBy(std::set<std::string_view> plugins) {
    RejectBy(Pop(), std::move(plugins));
  }
  void RejectBy(QueuedPodInfo info, std::set<std::string_view> plugins) {
    info.unschedulable_plugins = std::move(plugins);
    queue_.AddUnschedulableIfNotPresent(std::move(info));
  }

  void MoveAll(const ClusterChange& change) {
    queue_.MoveAllToActiveOrBackoffQueue(change);
  }
  void MoveAll(ActionType node_update) {
    MoveAll({{EventResource::kNode, node_update}, NewNode(), NewNode()});
  }

  // Returns the plugins whose hints were called, in order, since the last call.
  std::vector<std::string_view> CalledHints() {
    std::vector<std::string_view> plugins;
    for (const Call& call : calls_) plugins.push_back(call.plugin);
    calls_.clear();
    return plugins;
  }

  // Returns the pod's last record.
  const PodRecord& Record(const std::string& uid) {
    records_.Poll();
    return records_.Of(uid);
  }

  static std::shared_ptr<const Node> NewNode() {
    return std::make_shared<const Node>();
  }
  static ClusterChange PodDeleted(const PodPtr& pod) {
    return {{EventResource::kAssignedPod, action::kDelete}, pod};
  }

  std::set<std::string_view> helps_;
  std::vector<Call> calls_;

 private:
  void AddPlugin(std::string_view name, ClusterEvent event) {
    const auto hint = [this, name](const Pod& pod,
                                   const ClusterChange& change) {
      calls_.push_back({name, std::make_shared<const Pod>(pod), change});
      return QueueIf(helps_.contains(name));
    };
    framework_.Add(std::make_unique<FakeFilter>(
        name, std::vector<ClusterEventWithHint>{{event, hint}}));
  }

  LastRecords records_{trace_};
};

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

// The framework adds Node/UpdateNodeTaint to NodeAffinity's events.
TEST_F(QueueingHintsTest, ThePodsRecordHasTheEventsOfItsPlugins) {
  Add("a");
  RejectBy({"NodeAffinity", "NodePorts"});
  EXPECT_THAT(Record("a").move.wakes,
              ElementsAre("Node/Add", "Node/UpdateNodeLabel",
                          "Node/UpdateNodeTaint", "Pod/Delete"));
}

// ---- Updates of the pod itself.

TEST_F(QueueingHintsTest, AnUpdateMovesThePodByItsFirstChangeThatHelps) {
  Add("a");
  RejectBy({"NodeUnschedulable"});
  helps_ = {"NodeUnschedulable"};
  Pod changed = *Tolerating(*MakePod("a"));
  changed.metadata.labels["colour"] = "red";  // an earlier event of the update
  Update(std::make_shared<const Pod>(changed));
  EXPECT_EQ(Record("a").move.event, "UnschedulablePodUpdatePodToleration");
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

TEST_F(QueueingHintsTest, ActivateInFlightCountsForThatPodOnly) {
  for (const char* name : {"a", "b"}) Add(name);
  const QueuedPodInfo activated = Pop();
  const QueuedPodInfo other = Pop();
  queue_.Activate({activated.pod});
  RejectBy(activated, {"NodeAffinity"});
  RejectBy(other, {"NodeAffinity"});
  EXPECT_THAT(CalledHints(), IsEmpty());
  EXPECT_THAT(After(std::chrono::minutes(4)), ElementsAre("a"));
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

// If a pod is deleted in flight, its changes are dropped when its try ends.
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
