// What happens to a pod whose PreBind is cancelled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

#include "framework/pods_in_pre_bind.h"
#include "tests/binding_cycle_testing.h"

namespace minisched {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class BindingCycleCancelTest : public BindingCycleTest {
 protected:
  BindingCycleCancelTest() {
    auto& make = options_.registry.at("DefaultBinder").make;
    make = [this, original = make](const Handle& handle, const auto&... args) {
      pods_in_pre_bind_ = &handle.pods_in_pre_bind;
      return original(handle, args...);
    };
  }
  ~BindingCycleCancelTest() override { Stop(); }

  // Starts a scheduler with a pod, and returns when its PreBind is under way.
  StatusCallback StartPreBind() {
    volumes_.set_pre_bind(std::nullopt);
    Start({NewNode("node-1")}, {NewPod("web")});
    return volumes_.TakePreBind();
  }
  bool Cancel() {
    return pods_in_pre_bind_->CancelPod("web", "preempted by X", [this] {
      calls_when_gone_ = static_cast<int>(volumes_.AwaitCalls(0).size());
      queued_when_gone_ = !Queued().backoff.empty();
    });
  }

  PodsInPreBind* pods_in_pre_bind_ = nullptr;
  std::atomic<int> calls_when_gone_ = 0;
  std::atomic<bool> queued_when_gone_ = false;
};

TEST_F(BindingCycleCancelTest, ThePodIsTriedAgainAfterItsBackoff) {
  const StatusCallback done = StartPreBind();
  EXPECT_TRUE(Cancel());
  done({Code::kError, "context canceled"});
  EXPECT_THAT(AwaitWrites(2),
              Contains(AllOf(HasSubstr(R"(running PreBind plugin \"Volumes\": )"
                                       "preempted by X"),
                             HasSubstr("SchedulerError"))));
  EXPECT_THAT(volumes_.AwaitCalls(3),
              ElementsAre("Reserve web on node-1, in flight",
                          "PreBind web on node-1", "Unreserve web on node-1"));
  EXPECT_EQ(calls_when_gone_, 3) << "after Unreserve";
  EXPECT_FALSE(queued_when_gone_);
  volumes_.set_pre_bind(Status());
  clock_.AwaitSleepers(kSleepers);
  clock_.Advance(std::chrono::seconds(2));
  EXPECT_EQ(TakeBinding(), "web");
}

TEST_F(BindingCycleCancelTest, APodThatWasJustReadyIsNotBound) {
  const StatusCallback done = StartPreBind();
  EXPECT_TRUE(Cancel());
  done({});
  EXPECT_THAT(AwaitWrites(2),
              Contains(AllOf(HasSubstr(R"("message":"preempted by X")"),
                             HasSubstr("SchedulerError"))));
  EXPECT_EQ(calls_when_gone_, 3);
}

TEST_F(BindingCycleCancelTest, APodThatIsBeingBoundCannotBeCancelled) {
  const StatusCallback done = StartPreBind();
  done({});
  EXPECT_EQ(TakeBinding(), "web");
  EXPECT_FALSE(Cancel());
  Fail("web");
  AwaitWrites(2);
  EXPECT_FALSE(Cancel()) << "after the failed Binding";
}

TEST_F(BindingCycleCancelTest, ACancelledPreBindEndsWithTheScheduler) {
  const StatusCallback done = StartPreBind();
  EXPECT_TRUE(Cancel());
  stop_.request_stop();
  done({Code::kError, "context canceled"});
  Stop();
}

}  // namespace
}  // namespace minisched
