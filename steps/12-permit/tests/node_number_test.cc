#include "plugins/node_number.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/waiting_pods.h"
#include "minisched/base/executor.h"
#include "minisched/base/fake_clock.h"
#include "tests/handle_testing.h"
#include "tests/score_testing.h"
#include "tests/status_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::chrono::nanoseconds kInstant{1};
constexpr const char* kTimedOut =
    "Unschedulable by NodeNumber: rejected due to timeout after waiting 5s at "
    "plugin NodeNumber";

Scores ScoreNumbers(const std::string& pod_name,
                    const std::vector<std::string>& node_names) {
  Pod pod;
  pod.metadata.name = pod_name;
  std::vector<NodeAndPods> nodes;
  for (const std::string& name : node_names) {
    nodes.emplace_back().node.metadata.name = name;
  }
  const Snapshot snapshot = SnapshotOf(nodes);
  return RunScore(NodeNumber(NewHandle(snapshot)), pod, snapshot);
}

TEST(NodeNumberTest, PrefersNodesWithThePodsDigit) {
  const Scores scores =
      ScoreNumbers("web-7", {"node-17", "node-7", "node-70", "node-8"});
  const std::vector<std::int64_t> expected = {100, 100, 0, 0};
  EXPECT_EQ(scores.raw, expected);
  EXPECT_EQ(scores.normalized, expected);  // no NormalizeScore
}

TEST(NodeNumberTest, ANodeWithoutDigitScoresZero) {
  EXPECT_EQ(ScoreNumbers("web-0", {"0-node", "node-0"}).raw,
            (std::vector<std::int64_t>{0, 100}));
}

TEST(NodeNumberTest, SkipsAPodWithoutDigit) {
  EXPECT_EQ(ScoreNumbers("web", {"node-1"}).pre_score.code(), Code::kSkip);
  EXPECT_EQ(ScoreNumbers("1-web", {"node-1"}).pre_score.code(), Code::kSkip);
  EXPECT_EQ(ScoreNumbers("", {"node-1"}).pre_score.code(), Code::kSkip);
}

// The plugin and the waiting pods, without the rest of a scheduler.
class NodeNumberPermitTest : public ::testing::Test {
 protected:
  NodeNumberPermitTest() { pod_->metadata.uid = "uid-1"; }

  // Runs Permit in a new attempt of the pod. If the status is Wait, the pod
  // waits.
  Status Permit(const std::string& node) {
    state_.emplace();
    Clock::Duration timeout{};
    const Status status = plugin_.Permit(*state_, *pod_, node, timeout);
    if (status.code() != Code::kWait) return status;
    waiting_pods_.Add(pod_, node, {{plugin_.Name(), timeout}});
    waiting_pods_.WaitOnPermit(pod_).Start([this](const Status& result) {
      ends_.push_back(Describe(result));
      state_.reset();
      if (!result.IsSuccess()) waiting_pods_.Remove(*pod_);
    });
    return status;
  }

  // Advances the clock. Returns the ends of the waits so far, as texts.
  std::vector<std::string> EndsAfter(Clock::Duration duration) {
    clock_.Advance(duration);
    RunTasks();  // of the due timers
    RunTasks();  // that these tasks have posted
    return ends_;
  }

  WaitingPods& waiting_pods() { return waiting_pods_; }
  const Pod& pod() const { return *pod_; }

 private:
  // Blocks until the tasks that have been posted and the due timers have run.
  void RunTasks() {
    std::promise<void> done;
    executor_.PostAfter({}, [&done] { done.set_value(); });
    done.get_future().wait();
  }

  const std::shared_ptr<Pod> pod_ = std::make_shared<Pod>();
  const Snapshot snapshot_;
  std::optional<CycleState> state_;  // of the present try
  std::vector<std::string> ends_;
  FakeClock clock_;
  Executor executor_{1, clock_};  // its tasks use the members before it
  WaitingPods waiting_pods_{executor_};
  NodeNumber plugin_{NewHandle(
      snapshot_, {.waiting_pods = waiting_pods_, .executor = executor_})};
};

TEST_F(NodeNumberPermitTest, APodDoesNotWaitOnANodeWithoutDigitOrWithZero) {
  for (const char* node : {"node-0", "node-10", "node", "3-node", ""}) {
    EXPECT_EQ(Describe(Permit(node)), "Success") << node;
  }
}

TEST_F(NodeNumberPermitTest, APodWaitsForAsManySecondsAsTheDigitOfItsNode) {
  std::vector<std::string> ends;
  for (int digit = 1; digit <= 5; ++digit) {
    const std::chrono::seconds wait(digit);
    EXPECT_EQ(Describe(Permit("node-" + std::to_string(digit))), "Wait");
    EXPECT_EQ(EndsAfter(wait - kInstant), ends) << digit;
    ends.push_back("Success");
    EXPECT_EQ(EndsAfter(kInstant), ends) << digit;
  }
}

TEST_F(NodeNumberPermitTest, APodOnANodeWithADigitAboveFiveTimesOut) {
  std::vector<std::string> ends;
  for (int digit = 6; digit <= 9; ++digit) {
    EXPECT_EQ(Describe(Permit("node-" + std::to_string(digit))), "Wait");
    EXPECT_EQ(EndsAfter(std::chrono::seconds(5) - kInstant), ends) << digit;
    ends.push_back(kTimedOut);
    EXPECT_EQ(EndsAfter(kInstant), ends) << digit;
  }
}

// The timer of the first attempt fires while the pod waits again.
TEST_F(NodeNumberPermitTest, TheTimerOfAnEarlierTryDoesNotAllowThePod) {
  Permit("node-7");
  EXPECT_THAT(EndsAfter(std::chrono::seconds(6)), ElementsAre(kTimedOut));
  Permit("node-7");
  EXPECT_THAT(EndsAfter(std::chrono::seconds(5) - kInstant),
              ElementsAre(kTimedOut));
  EXPECT_THAT(EndsAfter(kInstant), ElementsAre(kTimedOut, kTimedOut));
}

TEST_F(NodeNumberPermitTest, TheTimerOfARejectedTryDoesNotAllowThePod) {
  Permit("node-3");
  EXPECT_THAT(EndsAfter(std::chrono::seconds(1)), IsEmpty());
  waiting_pods().Reject(pod().metadata.uid, "", "removed");
  EXPECT_THAT(EndsAfter({}), ElementsAre("Unschedulable: removed"));
  Permit("node-4");
  EXPECT_THAT(EndsAfter(std::chrono::seconds(4) - kInstant),
              ElementsAre("Unschedulable: removed"));
  EXPECT_THAT(EndsAfter(kInstant),
              ElementsAre("Unschedulable: removed", "Success"));
}

}  // namespace
}  // namespace minisched
