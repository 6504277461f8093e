// Tests gated pods: PreEnqueue plugins keep them from being tried.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/scheduling_gates.h"
#include "tests/scheduling_queue_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::chrono::hours kHour{1};

// Gates pods unless the code in its state is success, and counts the calls.
class Quota final : public PreEnqueuePlugin {
 public:
  struct State {
    Code code = Code::kSuccess;  // of PreEnqueue, except for the pod "the end"
    int calls = 0;
    bool helps = true;  // the result of the hint
  };

  Quota(State& state, std::vector<ClusterEvent> events)
      : state_(state), events_(std::move(events)) {}

  std::string_view Name() const override { return "Quota"; }
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    std::vector<ClusterEventWithHint> registered;
    for (const ClusterEvent& event : events_) {
      registered.push_back({event, [this](const Pod&, const ClusterChange&) {
                              return QueueIf(state_.helps);
                            }});
    }
    return registered;
  }
  Status PreEnqueue(const Pod& pod) const override {
    if (pod.metadata.name == "the end") return {};
    ++state_.calls;
    return {state_.code};
  }

 private:
  State& state_;
  const std::vector<ClusterEvent> events_;
};

// A queue with SchedulingGates.
class GatedPodsTest : public SchedulingQueueTest {
 protected:
  GatedPodsTest() { framework_.Add(std::make_unique<SchedulingGates>()); }

  // A pod with scheduling gates of these names.
  static PodPtr WithGates(const std::string& name,
                          const std::vector<std::string>& gates,
                          const std::string& version = "1") {
    Pod pod = *MakePod(name, version);
    for (const std::string& gate : gates) {
      pod.spec.scheduling_gates.push_back({.name = gate});
    }
    return std::make_shared<const Pod>(pod);
  }

  // Returns the pod's last record.
  const PodRecord& Record(const std::string& uid) {
    records_.Poll();
    return records_.Of(uid);
  }
  std::string_view PlaceOf(const std::string& uid) {
    return PlaceName(Record(uid).place);
  }

  void MoveAll(const ClusterEvent& event) {
    queue_.MoveAllToActiveOrBackoffQueue({event});
  }

 private:
  LastRecords records_{trace_};
};

TEST_F(GatedPodsTest, AreNotPopped) {
  Add(WithGates("a", {"g"}));
  Add("b");
  EXPECT_THAT(Rest(), ElementsAre("b"));
}

TEST_F(GatedPodsTest, HaveARecordWithTheirPluginAndItsEvents) {
  Add(WithGates("a", {"g"}));
  const PodRecord& record = Record("a");
  EXPECT_EQ(PlaceName(record.place), "gated");
  EXPECT_EQ(record.move.event, "UnscheduledPodAdd");
  EXPECT_THAT(record.move.plugins, ElementsAre("SchedulingGates"));
  EXPECT_THAT(record.move.wakes,
              ElementsAre("TargetPod/UpdatePodSchedulingGatesEliminated"));
  EXPECT_EQ(record.move.attempts, 0);
  EXPECT_FALSE(record.until);
}

TEST_F(GatedPodsTest, StayGatedWhenTheyAreFlushed) {
  Add(WithGates("a", {"g"}));
  clock_.Advance(kHour);
  queue_.FlushUnschedulablePodsLeftover();
  EXPECT_THAT(Rest(), IsEmpty());
  EXPECT_EQ(PlaceOf("a"), "gated");
  EXPECT_EQ(Record("a").move.event, "UnschedulableTimeout");
}

TEST_F(GatedPodsTest, AreNotMovedByEventsOfOtherPlugins) {
  Add(WithGates("a", {"g"}));
  Event();
  EXPECT_THAT(Rest(), IsEmpty());
  EXPECT_EQ(Record("a").move.event, "UnscheduledPodAdd");
}

TEST_F(GatedPodsTest, CanBeDeleted) {
  Add(WithGates("a", {"g"}));
  Delete("a");
  EXPECT_EQ(PlaceOf("a"), "gone");
  EXPECT_THAT(SchedulingQueuePeer::Read(queue_).gated, IsEmpty());
}

TEST_F(GatedPodsTest, AreTriedOnceTheirGatesAreRemoved) {
  Add(WithGates("a", {"g"}));
  Update(WithGates("a", {}, "2"));
  EXPECT_EQ(PlaceOf("a"), "active");
  EXPECT_EQ(Record("a").move.event,
            "TargetPodUpdatePodSchedulingGatesEliminated");
  const QueuedPodInfo info = Pop();
  EXPECT_EQ(info.pod->metadata.resource_version, "2");
  EXPECT_EQ(info.attempts, 1);
}

TEST_F(GatedPodsTest, AreTriedInTheOrderOfTheirCreation) {
  Add(WithGates("old", {"g"}));
  clock_.Advance(kSecond);
  Add("new");
  Update(WithGates("old", {}, "2"));
  EXPECT_THAT(Rest(), ElementsAre("old", "new"));
}

TEST_F(GatedPodsTest, WaitUntilTheLastGateIsRemoved) {
  Add(WithGates("a", {"g", "h"}));
  Update(WithGates("a", {"h"}, "2"));
  EXPECT_THAT(Rest(), IsEmpty());
  EXPECT_EQ(Record("a").move.event, "UnscheduledPodAdd");
  Update(WithGates("a", {}, "3"));
  EXPECT_EQ(Pop().pod->metadata.resource_version, "3");
}

TEST_F(GatedPodsTest, CanBeRejectedLikeOtherPods) {
  Add(WithGates("a", {"g"}));
  Update(WithGates("a", {}, "2"));
  Reject();
  EXPECT_EQ(PlaceOf("a"), "unschedulable");
  EXPECT_THAT(Record("a").move.plugins, ElementsAre("NodeResourcesFit"));
  Event();
  EXPECT_THAT(After(kSecond), ElementsAre("a"));
}

// A queue with SchedulingGates, and with Quota, which registers
// Node/UpdateNodeAnnotation.
class QuotaTest : public GatedPodsTest {
 protected:
  explicit QuotaTest(std::vector<ClusterEvent> events = {kQuotaEvent}) {
    framework_.Add(std::make_unique<Quota>(quota_, std::move(events)));
  }

  void Close() { quota_.code = Code::kUnschedulable; }
  void Open() { quota_.code = Code::kSuccess; }
  void QuotaEvent() { MoveAll(kQuotaEvent); }

  static constexpr ClusterEvent kQuotaEvent{EventResource::kNode,
                                            action::kUpdateNodeAnnotation};
  Quota::State quota_;
};

TEST_F(QuotaTest, AnyStatusButSuccessGatesAPod) {
  for (const Code code : {Code::kError, Code::kUnschedulable,
                          Code::kUnschedulableAndUnresolvable}) {
    quota_.code = code;
    Add("a");
    EXPECT_EQ(PlaceOf("a"), "gated");
    EXPECT_THAT(Rest(), IsEmpty());
    Delete("a");
  }
}

TEST_F(QuotaTest, PreEnqueueRunsAgainAfterAnEventOfItsPlugin) {
  Close();
  Add("a");
  Open();
  Event();
  Update(MakePod("a", "2"));
  EXPECT_EQ(quota_.calls, 1);
  QuotaEvent();
  EXPECT_EQ(quota_.calls, 2);
  EXPECT_THAT(Rest(), ElementsAre("a"));
}

TEST_F(QuotaTest, PreEnqueueDoesNotRunIfTheHintReturnsSkip) {
  Close();
  Add("a");
  Open();
  quota_.helps = false;
  QuotaEvent();
  EXPECT_EQ(quota_.calls, 1);
  EXPECT_THAT(Rest(), IsEmpty());
}

TEST_F(QuotaTest, APodStaysGatedIfPreEnqueueRejectsItAgain) {
  Close();
  Add("a");
  QuotaEvent();
  EXPECT_EQ(quota_.calls, 2);
  EXPECT_EQ(PlaceOf("a"), "gated");
  EXPECT_THAT(Rest(), IsEmpty());
  Open();
  QuotaEvent();
  EXPECT_THAT(Rest(), ElementsAre("a"));
}

TEST_F(QuotaTest, APodThatTheNextPluginRejectsWaitsForThatPluginsEvents) {
  Close();
  Add(WithGates("a", {"g"}));
  EXPECT_EQ(quota_.calls, 0);
  QuotaEvent();
  EXPECT_EQ(quota_.calls, 0);
  Update(WithGates("a", {}, "2"));
  EXPECT_EQ(quota_.calls, 1);
  EXPECT_EQ(PlaceOf("a"), "gated");
  EXPECT_THAT(Record("a").move.wakes, ElementsAre("Node/UpdateNodeAnnotation"));
  Open();
  QuotaEvent();
  EXPECT_THAT(Rest(), ElementsAre("a"));
}

TEST_F(QuotaTest, ARejectedPodCanBecomeGated) {
  Add("a");
  Reject();
  Close();
  Event();
  EXPECT_EQ(PlaceOf("a"), "gated");
  EXPECT_THAT(Record("a").move.plugins,
              ElementsAre("NodeResourcesFit", "Quota"));
  EXPECT_THAT(Record("a").move.wakes, ElementsAre("Node/UpdateNodeAnnotation"));
  clock_.Advance(kHour);
  queue_.FlushUnschedulablePodsLeftover();
  Open();
  Event();  // NodeResourcesFit no longer holds the pod
  EXPECT_THAT(Rest(), IsEmpty());
  QuotaEvent();
  EXPECT_THAT(Rest(), ElementsAre("a"));
}

TEST_F(QuotaTest, AFlushedPodCanBecomeGated) {
  Add("a");
  Reject();
  Close();
  clock_.Advance(kHour);
  queue_.FlushUnschedulablePodsLeftover();
  EXPECT_EQ(PlaceOf("a"), "gated");
  EXPECT_THAT(Rest(), IsEmpty());
}

// The plugin has not registered the event that opened the gate.
TEST_F(QuotaTest, AFlushRunsPreEnqueueEveryFiveMinutes) {
  Close();
  Add("a");
  clock_.Advance(kHour);
  queue_.FlushUnschedulablePodsLeftover();
  Open();
  clock_.Advance(std::chrono::minutes(5));
  queue_.FlushUnschedulablePodsLeftover();
  EXPECT_EQ(PlaceOf("a"), "gated");
  clock_.Advance(std::chrono::seconds(1));
  queue_.FlushUnschedulablePodsLeftover();
  EXPECT_THAT(Rest(), ElementsAre("a"));
}

TEST_F(QuotaTest, ABackoffContinuesAfterThePodIsNoLongerGated) {
  Add("a");
  Reject();
  Close();
  Event();
  Open();
  QuotaEvent();
  EXPECT_EQ(PlaceOf("a"), "backoff");
  EXPECT_THAT(Rest(), IsEmpty());
  EXPECT_THAT(After(kSecond), ElementsAre("a"));
}

TEST_F(QuotaTest, AFailedPodIsGatedInsteadOfBackingOff) {
  Add("failed");
  const QueuedPodInfo failed = Pop();
  Add("rejected");
  const QueuedPodInfo rejected = Pop();
  Event();
  Close();
  queue_.AddUnschedulableIfNotPresent(failed);
  Reject(rejected);
  EXPECT_EQ(PlaceOf("failed"), "gated");
  EXPECT_EQ(PlaceOf("rejected"), "gated");
  EXPECT_THAT(After(kHour), IsEmpty());
}

// The pod has passed PreEnqueue before backoffQ.
TEST_F(QuotaTest, PreEnqueueDoesNotRunAtTheEndOfABackoff) {
  Add("a");
  Fail();
  Close();
  EXPECT_THAT(After(kSecond), ElementsAre("a"));
}

// A queue with a Quota that registers no event.
class QuotaWithoutEventsTest : public QuotaTest {
 protected:
  QuotaWithoutEventsTest() : QuotaTest({}) {}
};

TEST_F(QuotaWithoutEventsTest, NoEventMovesAGatedPod) {
  Close();
  Add("a");
  Open();
  for (const EventResource resource :
       {EventResource::kNode, EventResource::kAssignedPod}) {
    MoveAll({resource, action::kAdd});
    MoveAll({resource, action::kUpdate});
  }
  Update(Tolerating(*MakePod("a")));
  EXPECT_THAT(Record("a").move.wakes, IsEmpty());
  EXPECT_THAT(After(kHour), IsEmpty());
  EXPECT_EQ(quota_.calls, 1);
}

}  // namespace
}  // namespace minisched
