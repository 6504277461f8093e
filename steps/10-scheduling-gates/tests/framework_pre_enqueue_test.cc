// Tests the PreEnqueue plugins of the framework.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/framework.h"
#include "tests/hints_testing.h"
#include "tests/status_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;

// Returns the same status for each pod, and records that it was called.
class FakePreEnqueuePlugin final : public PreEnqueuePlugin {
 public:
  FakePreEnqueuePlugin(std::string name, Status status,
                       std::vector<std::string>& calls)
      : name_(std::move(name)), status_(std::move(status)), calls_(calls) {}
  std::string_view Name() const override { return name_; }
  Status PreEnqueue(const Pod& /*pod*/) const override {
    calls_.push_back(name_);
    return status_;
  }

 private:
  const std::string name_;
  const Status status_;
  std::vector<std::string>& calls_;
};

class PreEnqueueTest : public ::testing::Test {
 protected:
  void Add(const std::string& name, Status status) {
    framework_.Add(std::make_unique<FakePreEnqueuePlugin>(
        name, std::move(status), calls_));
  }
  std::string Run() { return Describe(framework_.RunPreEnqueuePlugins({})); }

  std::vector<std::string> calls_;
  Framework framework_;
};

TEST_F(PreEnqueueTest, APodPassesWithoutPlugins) {
  EXPECT_EQ(Run(), "Success");
}

TEST_F(PreEnqueueTest, APodPassesIfAllPluginsReturnSuccess) {
  Add("B", {});
  Add("A", {});
  EXPECT_EQ(Run(), "Success");
  EXPECT_THAT(calls_, ElementsAre("B", "A"));
}

TEST_F(PreEnqueueTest, TheFirstPluginThatRejectsStopsTheOthers) {
  Add("C", {});
  Add("B", {Code::kUnschedulableAndUnresolvable, "not yet"});
  Add("A", {Code::kUnschedulable, "never"});
  EXPECT_EQ(Run(), "UnschedulableAndUnresolvable by B: not yet");
  EXPECT_THAT(calls_, ElementsAre("C", "B"));
}

TEST_F(PreEnqueueTest, AnErrorGatesThePodToo) {
  Add("A", {Code::kError, "disk full"});
  Add("B", {});
  EXPECT_EQ(Run(), "Error by A: disk full");
  EXPECT_THAT(calls_, ElementsAre("A"));
}

TEST_F(PreEnqueueTest, ThePluginsRegisterEventsToo) {
  Add("Gate", {});
  EXPECT_THAT(DescribeHints(framework_),
              ElementsAre("Gate: Pod/All", "Gate: Node/All"));
}

}  // namespace
}  // namespace minisched
