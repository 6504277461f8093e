// Tests pods that wait on Permit in a group.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/waiting_pods.h"
#include "tests/waiting_pods_testing.h"

namespace minisched {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

class WaitingGroupTest : public WaitingPodsTest {
 protected:
  // Lets the pod wait with the group. Its callback owns `owned`.
  void AddAndOwn(const std::string& name, std::shared_ptr<void> owned) {
    Join(name);
    pods_.WaitOnPermit(PodThatWaits(name))
        .Start([owned = std::move(owned)](const Status& /*status*/) {});
  }

  // Lets the pod wait with the group. Ends() has the end of its wait.
  void AddToGroup(const std::string& name) {
    Join(name);
    WaitOnPermit(name);
  }

  void Join(const std::string& name) {
    pods_.PermitInGroup(
        "g", "P", [] { return false; }, [this] { freed_ = true; });
    pods_.Add(PodThatWaits(name), "node-1", {{"P", seconds(10)}}, "g");
  }

  // What a binding cycle does. It owns `owned` until it goes on.
  Task<> GiveBack(std::string name, std::shared_ptr<int> owned) {
    co_await pods_.RemoveWithGroup(*PodThatWaits(name));
    owned = nullptr;
  }

  std::atomic<bool> freed_ = false;
};

// The scheduler waits at its end for the binding cycles, which the callbacks
// own.
TEST_F(WaitingGroupTest, ClearDropsAllCallbacksIfAPodIsRejectedMeanwhile) {
  // The first callback that Clear() drops rejects the other pod.
  const auto reject = [this](void*) {
    for (const char* name : {"a", "b"}) pods_.Reject(name, "P", "too late");
  };
  std::shared_ptr<void> of_a(nullptr, reject);
  std::shared_ptr<void> of_b(nullptr, reject);
  const std::weak_ptr<void> a_dropped = of_a;
  const std::weak_ptr<void> b_dropped = of_b;
  AddAndOwn("a", std::move(of_a));
  AddAndOwn("b", std::move(of_b));
  pods_.Clear();
  Settle();
  EXPECT_TRUE(a_dropped.expired());
  EXPECT_TRUE(b_dropped.expired());
}

// The binding cycle of "a" waits for that of "b", which has not given back its
// resources.
TEST_F(WaitingGroupTest, ClearDropsThePodsThatWaitForTheOthers) {
  Join("a");
  Join("b");
  pods_.Reject("a", "P", "no");
  auto owned = std::make_shared<int>();
  const std::weak_ptr<int> a_dropped = owned;
  GiveBack("a", std::move(owned)).Start();
  Settle();
  EXPECT_FALSE(a_dropped.expired());
  pods_.Clear();
  EXPECT_TRUE(a_dropped.expired());
  EXPECT_FALSE(freed_);
  std::atomic<bool> went_on = false;
  GiveBack("b", nullptr).Start([&] { went_on = true; });
  Settle();
  EXPECT_TRUE(went_on);
}

// "late" joins when the group is rejected and "a" has not given back yet.
TEST_F(WaitingGroupTest, TheOthersWaitForAPodThatJoinsLate) {
  Join("a");
  pods_.Reject("a", "P", "no");
  Join("late");
  EXPECT_TRUE(pods_.IsRejected("late"));
  GiveBack("a", nullptr).Start();
  Settle();
  EXPECT_FALSE(freed_);
  GiveBack("late", nullptr).Start();
  Settle();
  EXPECT_TRUE(freed_);
}

TEST_F(WaitingGroupTest, EndWaitAllowsOnlyThePodItself) {
  AddToGroup("a");
  AddToGroup("b");
  EXPECT_TRUE(pods_.EndWait("a", /*allow=*/true));
  EXPECT_THAT(Ends(), ElementsAre("a: Success"));
}

TEST_F(WaitingGroupTest, EndWaitRejectsTheWholeGroup) {
  AddToGroup("a");
  AddToGroup("b");
  EXPECT_TRUE(pods_.EndWait("b", /*allow=*/false));
  EXPECT_THAT(Ends(),
              UnorderedElementsAre("a: Unschedulable by P: rejected by hand",
                                   "b: Unschedulable by P: rejected by hand"));
}

}  // namespace
}  // namespace minisched
