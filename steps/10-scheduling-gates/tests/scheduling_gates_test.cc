#include "plugins/scheduling_gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/default_framework_testing.h"
#include "tests/hints_testing.h"
#include "tests/plugin_testing.h"
#include "tests/status_testing.h"

namespace minisched {
namespace {

std::string PreEnqueueWithGates(const std::string& gates) {
  return Describe(SchedulingGates().PreEnqueue(
      PodOfSpec(R"({"schedulingGates":)" + gates + "}")));
}

TEST(SchedulingGatesTest, APodWithoutGatesPasses) {
  EXPECT_EQ(PreEnqueueWithGates("[]"), "Success");
}

// Upstream's text.
TEST(SchedulingGatesTest, APodWithGatesIsGated) {
  const std::string prefix =
      "UnschedulableAndUnresolvable: waiting for scheduling gates: ";
  EXPECT_EQ(PreEnqueueWithGates(R"([{"name":"foo"}])"), prefix + "[foo]");
  EXPECT_EQ(PreEnqueueWithGates(R"([{"name":"foo"},{"name":"bar"}])"),
            prefix + "[foo bar]");
}

TEST(SchedulingGatesTest, IsADefaultPlugin) {
  const Framework framework = NewDefaultFramework();
  EXPECT_EQ(Describe(framework.RunPreEnqueuePlugins({})), "Success");
  EXPECT_EQ(Describe(framework.RunPreEnqueuePlugins(
                PodOfSpec(R"({"schedulingGates":[{"name":"a"}]})"))),
            "UnschedulableAndUnresolvable by SchedulingGates: "
            "waiting for scheduling gates: [a]");
}

TEST(SchedulingGatesTest, RegistersTheEventOfKubeScheduler) {
  EXPECT_THAT(
      EventsOf(NewDefaultFramework(), "SchedulingGates"),
      ::testing::ElementsAre("TargetPod/UpdatePodSchedulingGatesEliminated"));
}

constexpr char kGatedPod[] = R"({"metadata":{"uid":"p"},
    "spec":{"schedulingGates":[{"name":"a"}]}})";

TEST(SchedulingGatesTest, QueuesThePodWhenItsLastGateIsRemoved) {
  EXPECT_EQ(AfterPod<SchedulingGates>(kGatedPod, kGatedPod,
                                      R"({"metadata":{"uid":"p"}})"),
            QueueingHint::kQueue);
}

}  // namespace
}  // namespace minisched
