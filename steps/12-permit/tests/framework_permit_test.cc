// Tests Permit of the framework, with the cases of TestPermitPlugins of
// upstream's framework_test.go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/framework.h"
#include "tests/hints_testing.h"
#include "tests/status_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr std::chrono::nanoseconds kNanosecond{1};
constexpr std::chrono::minutes kLongestWait{15};

// A plugin whose Permit returns a fixed status and timeout. Records the calls.
class FixedPermit final : public PermitPlugin {
 public:
  // `calls` must outlive the plugin.
  FixedPermit(std::string name, Status status, Clock::Duration timeout,
              std::vector<std::string>& calls)
      : name_(std::move(name)),
        status_(std::move(status)),
        timeout_(timeout),
        calls_(calls) {}
  std::string_view Name() const override { return name_; }
  Status Permit(CycleState& /*state*/, const Pod& pod,
                const std::string& node_name,
                Clock::Duration& timeout) override {
    EXPECT_EQ(timeout, Clock::Duration::zero());
    calls_.push_back(pod.metadata.name + " on " + node_name + " by " + name_);
    timeout = timeout_;
    return status_;
  }

 private:
  const std::string name_;
  const Status status_;
  const Clock::Duration timeout_;
  std::vector<std::string>& calls_;
};

class FrameworkPermitTest : public ::testing::Test {
 protected:
  void Add(const std::string& name, const Status& status,
           Clock::Duration timeout = {}) {
    framework_.Add(
        std::make_unique<FixedPermit>(name, status, timeout, calls_));
  }

  std::string Permit() {
    CycleState state;
    Pod pod;
    pod.metadata.name = "web-0";
    return Describe(framework_.RunPermitPlugins(state, pod, "node-1", waits_));
  }

  std::vector<std::string> calls_;  // such as "web-0 on node-1 by A"
  Framework framework_;
  PluginWaits waits_;
};

TEST_F(FrameworkPermitTest, SucceedsWithoutPlugins) {
  EXPECT_EQ(Permit(), "Success");
  EXPECT_THAT(waits_, IsEmpty());
}

TEST_F(FrameworkPermitTest, RunsThePluginsInOrder) {
  Add("B", {});
  Add("A", {}, kLongestWait);  // without Wait, a timeout means nothing
  EXPECT_EQ(Permit(), "Success");
  EXPECT_THAT(calls_,
              ElementsAre("web-0 on node-1 by B", "web-0 on node-1 by A"));
  EXPECT_THAT(waits_, IsEmpty());
}

TEST_F(FrameworkPermitTest, StopsAtARejection) {
  for (const auto& [code, name] :
       {std::pair(Code::kUnschedulable, "Unschedulable"),
        std::pair(Code::kUnschedulableAndUnresolvable,
                  "UnschedulableAndUnresolvable")}) {
    framework_ = {};
    calls_.clear();
    Add("B", Status(code, "not today"));
    Add("A", Status(Code::kError, "disk full"));
    EXPECT_EQ(Permit(), std::string(name) + " by B: not today");
    EXPECT_THAT(calls_, ElementsAre("web-0 on node-1 by B"));
  }
}

TEST_F(FrameworkPermitTest, StopsAtTheFirstError) {
  Add("B", Status(Code::kError, "disk full"));
  Add("A", Status(Code::kError, "quorum lost"));
  EXPECT_EQ(Permit(), R"(Error by B: running Permit plugin "B": disk full)");
  EXPECT_THAT(calls_, ElementsAre("web-0 on node-1 by B"));
}

TEST_F(FrameworkPermitTest, SkipIsAnError) {
  Add("A", Status(Code::kSkip, "no group"));
  EXPECT_EQ(Permit(), R"(Error by A: running Permit plugin "A": no group)");
}

TEST_F(FrameworkPermitTest, APluginLetsThePodWait) {
  Add("B", {});
  Add("A", Code::kWait, std::chrono::seconds(10));
  EXPECT_EQ(Permit(), "Wait");
  EXPECT_THAT(waits_, ElementsAre(Pair("A", std::chrono::seconds(10))));
}

TEST_F(FrameworkPermitTest, EachPluginThatWaitsHasItsTimeout) {
  Add("C", Code::kWait);
  Add("B", {});
  Add("A", Code::kWait, std::chrono::seconds(1));
  EXPECT_EQ(Permit(), "Wait");
  EXPECT_THAT(calls_,
              ElementsAre("web-0 on node-1 by C", "web-0 on node-1 by B",
                          "web-0 on node-1 by A"));
  EXPECT_THAT(waits_, ElementsAre(Pair("A", std::chrono::seconds(1)),
                                  Pair("C", Clock::Duration::zero())));
}

TEST_F(FrameworkPermitTest, APodWaitsForFifteenMinutesAtMost) {
  Add("A", Code::kWait, kLongestWait - kNanosecond);
  Add("B", Code::kWait, kLongestWait);
  Add("C", Code::kWait, kLongestWait + kNanosecond);
  Add("D", Code::kWait, Clock::Duration::max());
  EXPECT_EQ(Permit(), "Wait");
  EXPECT_THAT(waits_,
              ElementsAre(Pair("A", kLongestWait - kNanosecond),
                          Pair("B", kLongestWait), Pair("C", kLongestWait),
                          Pair("D", kLongestWait)));
}

TEST_F(FrameworkPermitTest, ARejectionAfterAWaitRejectsThePod) {
  Add("B", Code::kWait, std::chrono::seconds(10));
  Add("A", Status(Code::kUnschedulable, "not today"));
  EXPECT_EQ(Permit(), "Unschedulable by A: not today");
}

TEST_F(FrameworkPermitTest, AnErrorAfterAWaitIsAnError) {
  Add("B", Code::kWait, std::chrono::seconds(10));
  Add("A", Status(Code::kError, "disk full"));
  EXPECT_EQ(Permit(), R"(Error by A: running Permit plugin "A": disk full)");
}

TEST_F(FrameworkPermitTest, PluginsThatOnlyPermitRegisterEvents) {
  Add("A", {});
  EXPECT_THAT(DescribeHints(framework_),
              ElementsAre("A: Pod/All", "A: Node/All"));
}

}  // namespace
}  // namespace minisched
