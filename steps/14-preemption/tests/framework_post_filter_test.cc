// Tests PostFilter of the framework, with the cases of
// TestRunPostFilterPlugins of upstream's framework_test.go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/framework.h"
#include "tests/status_testing.h"

namespace minisched {
namespace {

// A plugin whose PostFilter returns a fixed status, and nominates a node unless
// the node is unset.
class FixedPostFilter final : public PostFilterPlugin {
 public:
  FixedPostFilter(std::string name, Status status,
                  std::optional<std::string> node)
      : name_(std::move(name)),
        status_(std::move(status)),
        node_(std::move(node)) {}
  std::string_view Name() const override { return name_; }
  Status PostFilter(const CycleState& /*state*/, const Pod& /*pod*/,
                    const NodeToStatus& /*statuses*/,
                    NominatingInfo& nominating) override {
    if (node_) nominating = NominatingInfo::Override(*node_);
    return status_;
  }

 private:
  const std::string name_;
  const Status status_;
  const std::optional<std::string> node_;
};

class FrameworkPostFilterTest : public ::testing::Test {
 protected:
  void Add(const std::string& name, const Status& status,
           const std::optional<std::string>& node = {}) {
    framework_.Add(std::make_unique<FixedPostFilter>(name, status, node));
  }

  // Returns the status and, in brackets, the nominated node.
  std::string Run() {
    NominatingInfo nominating;
    const Status status =
        framework_.RunPostFilterPlugins({}, {}, {}, nominating);
    const bool overrides = nominating.mode == NominatingInfo::Mode::kOverride;
    return Describe(status) +
           (overrides ? " [" + nominating.node_name + "]" : "");
  }

  Framework framework_;
};

TEST_F(FrameworkPostFilterTest, WithoutPluginsNothingHelps) {
  EXPECT_EQ(Run(), "Unschedulable");
}

TEST_F(FrameworkPostFilterTest, TheFirstSuccessCounts) {
  Add("A", {Code::kUnschedulable, "no"});
  Add("B", {}, "node-1");
  Add("C", {Code::kError, "broken"}, "node-2");
  EXPECT_EQ(Run(), "Success by B [node-1]");
}

TEST_F(FrameworkPostFilterTest, AnErrorEndsIt) {
  Add("A", {Code::kError, "broken"});
  Add("B", {}, "node-1");
  EXPECT_EQ(Run(), "Error by A: broken");
}

TEST_F(FrameworkPostFilterTest, UnresolvableEndsIt) {
  Add("A", {Code::kUnschedulableAndUnresolvable, "hopeless"}, "");
  Add("B", {}, "node-1");
  EXPECT_EQ(Run(), "UnschedulableAndUnresolvable by A: hopeless []");
}

TEST_F(FrameworkPostFilterTest, JoinsTheReasonsOfAll) {
  Add("A", {Code::kUnschedulable, "no claims"});
  Add("B", {Code::kUnschedulable, "no victims"}, "");
  EXPECT_EQ(Run(), "Unschedulable by A: no claims, no victims []");
}

}  // namespace
}  // namespace minisched
