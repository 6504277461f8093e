#include "framework.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace minisched {
namespace {

// Says the same of each node.
template <Code kCode>
class Says final : public FilterPlugin {
 public:
  explicit Says(const Handle& /*handle*/) {}
  std::string_view Name() const override { return "Says"; }
  Status Filter(CycleState& /*state*/, const Pod& /*pod*/,
                const NodeInfo& /*node*/) const override {
    return kCode == Code::kSuccess ? Status() : Status(kCode, "as told");
  }
};

class FrameworkTest : public ::testing::Test {
 protected:
  Status RunFilterPlugins() {
    Node node;
    node.spec.unschedulable = cordoned_;
    CycleState state;
    return framework_.RunFilterPlugins(
        state, {}, NodeInfo(std::make_shared<const Node>(node)));
  }

  Snapshot snapshot_;
  Framework framework_{snapshot_};
  bool cordoned_ = false;
};

TEST_F(FrameworkTest, HandsPluginsTheSnapshot) {
  EXPECT_EQ(&framework_.SnapshotSharedLister(), &snapshot_);
}

TEST_F(FrameworkTest, ANodeFitsThatAllSayYesTo) {
  framework_.Add<Says<Code::kSuccess>>();
  EXPECT_TRUE(RunFilterPlugins().IsSuccess());
}

TEST_F(FrameworkTest, TheFirstThatObjectsHasIt) {
  framework_.Add<Says<Code::kUnschedulable>>();
  framework_.Add<Says<Code::kError>>();
  EXPECT_EQ(RunFilterPlugins().code(), Code::kUnschedulable);
  EXPECT_EQ(RunFilterPlugins().Message(), "as told");
  cordoned_ = true;
  EXPECT_EQ(RunFilterPlugins().Message(), "node(s) were unschedulable");
}

TEST_F(FrameworkTest, AnErrorSaysWhereItIsFrom) {
  framework_.Add<Says<Code::kError>>();
  EXPECT_EQ(RunFilterPlugins().code(), Code::kError);
  EXPECT_EQ(RunFilterPlugins().Message(),
            "running \"Says\" filter plugin: as told");
}

}  // namespace
}  // namespace minisched
