#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "framework/waiting_pods.h"
#include "minisched/api/conditions.h"
#include "preemption/executor.h"
#include "tests/preemption_executor_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST_F(PreemptionExecutorTest, DeletesAllVictimsAndReportsEach) {
  Start({"a", "b", "c"});
  AwaitEnd();
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_TRUE(IsEnding(name));
    const auto pod = client_->Get<Pod>("default", name);
    const Condition* why =
        FindCondition(pod->status.conditions, "DisruptionTarget");
    ASSERT_NE(why, nullptr);
    EXPECT_EQ(why->reason, "PreemptionByScheduler");
    EXPECT_EQ(why->message,
              "minisched: preempting to accommodate a higher priority pod");
  }
  AwaitThat([this] { return Notes().size() == 3; });
  EXPECT_THAT(Notes(), UnorderedElementsAre(
                           "a: Preempted by pod urgent on node node-1",
                           "b: Preempted by pod urgent on node node-1",
                           "c: Preempted by pod urgent on node node-1"));
  EXPECT_THAT(retried(), IsEmpty());
}

TEST_F(PreemptionExecutorTest, ARequestThatHangsHoldsUpNoOther) {
  Start({"a", "b", "c"},
        "faults: [{match: {verbs: [delete], name: a}, hang: before}]");
  AwaitThat([this] { return IsEnding("b"); });
}

TEST_F(PreemptionExecutorTest, AFailureTriesThePreemptorAgain) {
  Start({"a", "b", "c"},
        "faults: [{match: {verbs: [delete], name: b}, error: {code: 403}}]");
  AwaitEnd();
  EXPECT_TRUE(IsEnding("a"));
  EXPECT_FALSE(IsEnding("b"));
  EXPECT_THAT(retried(), ElementsAre("urgent"));
}

TEST_F(PreemptionExecutorTest, AFailureOfThePatchSparesTheVictim) {
  Start({"a"}, "faults: [{match: {verbs: [patch]}, error: {code: 403}}]");
  AwaitEnd();
  EXPECT_FALSE(IsEnding("a"));
  EXPECT_THAT(retried(), ElementsAre("urgent"));
}

TEST_F(PreemptionExecutorTest, AVictimWithAnImpossibleNameIsAFailure) {
  rename_ = "a/b";
  Start({"a"});
  AwaitEnd();
  EXPECT_THAT(retried(), ElementsAre("urgent"));
}

// Its deletion has woken the preemptor, or will.
TEST_F(PreemptionExecutorTest, AVictimThatIsGoneIsNoFailure) {
  before_ = [this] { EndPod("a"); };
  Start({"a"});
  AwaitEnd();
  EXPECT_THAT(retried(), IsEmpty());
  EXPECT_THAT(Notes(), IsEmpty());
}

TEST_F(PreemptionExecutorTest, AVictimThatWaitsOnPermitIsNotDeleted) {
  std::string end;
  before_ = [&] {
    const auto pod = client_->Get<Pod>("default", "a");
    waiting_pods_.Add(pod, "node-1", {{"Doorman", std::chrono::minutes(1)}});
    waiting_pods_.WaitOnPermit(pod).Start(
        [&](const Status& status) { end = Describe(status); });
  };
  Start({"a"});
  AwaitEnd();
  EXPECT_FALSE(IsEnding("a"));
  timers_.Drain(Clock::TimePoint::max());
  EXPECT_EQ(end,
            "Error by DefaultPreemption: waiting on permit for pod: preempted");
  AwaitThat([this] { return Notes().size() == 1; });
  EXPECT_THAT(Notes(),
              ElementsAre("a: Preempted by pod urgent on node node-1 (in "
                          "kube-scheduler memory)."));
  EXPECT_THAT(retried(), IsEmpty());
}

TEST_F(PreemptionExecutorTest, StopsWhatIsUnderWay) {
  Start({"a", "b"}, "faults: [{match: {verbs: [patch]}, hang: before}]");
  stop_.request_stop();
  EXPECT_TRUE(under_way_.WaitUntil(
      RealClock(), RealClock().Now() + std::chrono::seconds(20)));
}

}  // namespace
}  // namespace minisched
