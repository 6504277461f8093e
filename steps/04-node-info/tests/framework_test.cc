#include "framework/framework.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace minisched {
namespace {

// Returns the same status for each node.
class FakePlugin final : public FilterPlugin {
 public:
  FakePlugin(std::string name, Status status)
      : name_(std::move(name)), status_(std::move(status)) {}
  std::string_view Name() const override { return name_; }
  Status Filter(const CycleState& /*state*/, const Pod& /*pod*/,
                const NodeInfo& /*node*/) const override {
    return status_;
  }

 private:
  const std::string name_;
  const Status status_;
};

// A plugin without an extension point.
class IdlePlugin final : public Plugin {
 public:
  std::string_view Name() const override { return "Idle"; }
};

class FrameworkTest : public ::testing::Test {
 protected:
  void Add(const std::string& name, Status status) {
    framework_.Add(std::make_unique<FakePlugin>(name, std::move(status)));
  }

  Status RunFilterPlugins() {
    const NodeInfo node(std::make_shared<const Node>());
    CycleState state;
    PreFilterResult left_over;
    framework_.RunPreFilterPlugins(state, {}, {&node}, left_over);
    return framework_.RunFilterPlugins(state, {}, node);
  }

  Framework framework_;
};

TEST_F(FrameworkTest, ANodeFitsWithoutPlugins) {
  EXPECT_TRUE(RunFilterPlugins().IsSuccess());
}

TEST_F(FrameworkTest, ANodeFitsIfAllPluginsAcceptIt) {
  Add("A", {});
  Add("B", Code::kSuccess);
  EXPECT_TRUE(RunFilterPlugins().IsSuccess());
  EXPECT_EQ(RunFilterPlugins().plugin(), "");
}

TEST_F(FrameworkTest, FirstRejectionWins) {
  Add("A", {});
  Add("B", {Code::kUnschedulable, "too small"});
  Add("C", {Code::kError, "disk full"});
  const Status status = RunFilterPlugins();
  EXPECT_EQ(status.code(), Code::kUnschedulable);
  EXPECT_EQ(status.Message(), "too small");
  EXPECT_EQ(status.plugin(), "B");
}

TEST_F(FrameworkTest, AnErrorNamesItsPlugin) {
  Add("A", {Code::kError, "disk full"});
  const Status status = RunFilterPlugins();
  EXPECT_EQ(status.code(), Code::kError);
  EXPECT_EQ(status.Message(), "running \"A\" filter plugin: disk full");
  EXPECT_EQ(status.plugin(), "A");
}

TEST_F(FrameworkTest, SkipsPluginsOfOtherExtensionPoints) {
  framework_.Add(std::make_unique<IdlePlugin>());
  EXPECT_TRUE(RunFilterPlugins().IsSuccess());
}

}  // namespace
}  // namespace minisched
