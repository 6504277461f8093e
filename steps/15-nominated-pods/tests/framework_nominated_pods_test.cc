// Tests RunFilterPluginsWithNominatedPods() of the framework.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "framework/framework.h"
#include "minisched/base/fake_clock.h"
#include "minisched/trace/trace.h"
#include "tests/handle_testing.h"
#include "tests/preemption_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;

// Rejects a node that doesn't have the pod "friend".
class NeedsFriend final : public FilterPlugin {
 public:
  std::string_view Name() const override { return "NeedsFriend"; }
  Status Filter(const CycleState& /*state*/, const Pod& /*pod*/,
                const NodeInfo& node) const override {
    for (const PodInfoPtr& info : node.pods()) {
      if (info->pod->metadata.name == "friend") return {};
    }
    return {Code::kUnschedulable, "no friend"};
  }
};

class NominatedPodsTest : public ::testing::Test {
 protected:
  NominatedPodsTest() { AddDefaultPlugins(framework_, NewHandle(snapshot_)); }

  // Filters a node of 4 cpu for a pod of 2 cpu and the priority 5.
  std::string Filter(const std::vector<Pod>& nominated) {
    CycleState state;
    return Filter(state, nominated);
  }
  std::string Filter(CycleState& state, const std::vector<Pod>& nominated) {
    const NodeInfo node = NodeWithPods(NewNodeOf("node-1", 4), {});
    PreFilterResult left_over;
    framework_.RunPreFilterPlugins(state, pod_, {&node}, left_over);
    std::vector<PodInfoPtr> infos;
    for (const Pod& other : nominated) {
      infos.push_back(NewPodInfo(std::make_shared<const Pod>(other)));
    }
    const Status status =
        framework_.RunFilterPluginsWithNominatedPods(state, pod_, node, infos);
    EXPECT_TRUE(node.pods().empty()) << "the node must not change";
    return Describe(status);
  }

  const Pod pod_ = NewPodOf("pod", {.priority = 5, .cpu = 2});
  Snapshot snapshot_;
  Framework framework_;
};

constexpr char kNoCpuLeft[] =
    "Unschedulable by NodeResourcesFit: Insufficient cpu";

TEST_F(NominatedPodsTest, PodsOfTheSamePriorityOrAHigherOneCount) {
  EXPECT_EQ(Filter({NewPodOf("a", {.priority = 5, .cpu = 3})}), kNoCpuLeft);
  EXPECT_EQ(Filter({NewPodOf("a", {.priority = 6, .cpu = 3})}), kNoCpuLeft);
  EXPECT_EQ(Filter({NewPodOf("a", {.priority = 5}),
                    NewPodOf("b", {.priority = 9, .cpu = 2})}),
            kNoCpuLeft);
  EXPECT_EQ(Filter({NewPodOf("a", {.priority = 9, .cpu = 2})}), "Success");
}

TEST_F(NominatedPodsTest, PodsOfLowerPriorityDoNotCount) {
  EXPECT_EQ(Filter({NewPodOf("a", {.priority = 4, .cpu = 4})}), "Success");
}

TEST_F(NominatedPodsTest, ThePodItselfDoesNotCount) {
  EXPECT_EQ(Filter({NewPodOf("pod", {.priority = 5, .cpu = 4})}), "Success");
}

// The nominated pod may be bound to another node, so no pod may rely on it.
TEST_F(NominatedPodsTest, ThePodMustFitWithoutThemToo) {
  framework_.Add(std::make_unique<NeedsFriend>());
  EXPECT_EQ(Filter({NewPodOf("friend", {.priority = 9})}),
            "Unschedulable by NeedsFriend: no friend");
}

TEST_F(NominatedPodsTest, TheTraceHasAllRejectionsOfTheNodeWithThem) {
  framework_.Add(std::make_unique<NeedsFriend>());
  FakeClock clock;
  Trace trace("minisched", clock);
  TraceReader reader(trace, AttemptDetail::kAllRejections);
  CycleState state({trace, pod_, 1, framework_.filter_plugins()});
  EXPECT_EQ(Filter(state, {NewPodOf("a", {.priority = 9, .cpu = 3})}),
            kNoCpuLeft);
  state.report().Failed("no node fits");
  std::vector<std::string> plugins;
  for (const RecordPtr& record : reader.Poll()) {
    const auto* attempt = std::get_if<Attempt>(&record->state);
    if (attempt == nullptr) continue;
    for (const auto& [node, rejections] : attempt->rejected) {
      for (const auto& rejection : rejections) {
        plugins.push_back(rejection.plugin);
      }
    }
  }
  EXPECT_THAT(plugins, ElementsAre("NodeResourcesFit", "NeedsFriend"));
}

}  // namespace
}  // namespace minisched
