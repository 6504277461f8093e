// Tests RunPreFilterExtensionAddPod() and RunPreFilterExtensionRemovePod(), and
// their callers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/framework.h"
#include "preemption/victims.h"
#include "tests/preemption_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Counts the pods of the node only by the calls, and records the calls. The
// node is full with two pods.
class CountingPlugin final : public PreFilterPlugin, public FilterPlugin {
 public:
  CountingPlugin(std::string name, Status pre_filter,
                 std::vector<std::string>& calls)
      : name_(std::move(name)),
        pre_filter_(std::move(pre_filter)),
        calls_(calls) {}

  std::string_view Name() const override { return name_; }
  Status PreFilter(CycleState& state, const Pod& /*pod*/, const Nodes& nodes,
                   PreFilterResult& /*result*/) const override {
    state.Write(Count{static_cast<int>(nodes.front()->pods().size())});
    return pre_filter_;
  }
  void AddPod(CycleState& state, const Pod& /*pod*/, const PodInfo& added,
              const NodeInfo& node) const override {
    Record("add", added, node);
    ++state.Read<Count>().pods;
  }
  void RemovePod(CycleState& state, const Pod& /*pod*/, const PodInfo& removed,
                 const NodeInfo& node) const override {
    Record("remove", removed, node);
    --state.Read<Count>().pods;
  }
  Status Filter(const CycleState& state, const Pod& /*pod*/,
                const NodeInfo& /*node*/) const override {
    if (state.Read<Count>().pods < 2) return {};
    return {Code::kUnschedulable, "too many"};
  }

  struct Count {
    int pods;
  };

 private:
  // Also records the node's number of pods: the node has changed already.
  void Record(const std::string& what, const PodInfo& info,
              const NodeInfo& node) const {
    calls_.push_back(name_ + ": " + what + " " + info.pod->metadata.name +
                     ", node has " + std::to_string(node.pods().size()));
  }

  const std::string name_;
  const Status pre_filter_;
  std::vector<std::string>& calls_;
};

class PreFilterExtensionsTest : public ::testing::Test {
 protected:
  void Add(const std::string& name, Status pre_filter = {}) {
    framework_.Add(
        std::make_unique<CountingPlugin>(name, std::move(pre_filter), calls_));
  }

  // Runs PreFilter for a pod of priority 5 and a node with these pods.
  void PreFilter(const std::vector<Pod>& pods) {
    node_ = NodeWithPods(NewNodeOf("node-1", 4), pods);
    PreFilterResult left_over;
    framework_.RunPreFilterPlugins(state_, pod_, {&node_}, left_over);
  }

  static PodInfoPtr Info(const std::string& name, int priority = 5) {
    return NewPodInfo(
        std::make_shared<const Pod>(NewPodOf(name, {.priority = priority})));
  }

  int CountInState() const { return state_.Read<CountingPlugin::Count>().pods; }

  std::vector<std::string> calls_;
  Framework framework_;
  const Pod pod_ = NewPodOf("pod", {.priority = 5});
  NodeInfo node_;
  CycleState state_;
};

TEST_F(PreFilterExtensionsTest, RunInOrderUnlessPreFilterReturnedSkip) {
  Add("A");
  Add("B", Code::kSkip);
  Add("C");
  PreFilter({});
  framework_.RunPreFilterExtensionAddPod(state_, pod_, *Info("x"), node_);
  framework_.RunPreFilterExtensionRemovePod(state_, pod_, *Info("x"), node_);
  EXPECT_THAT(
      calls_,
      ElementsAre("A: add x, node has 0", "C: add x, node has 0",
                  "A: remove x, node has 0", "C: remove x, node has 0"));
}

// Other plugins need the data of a plugin that rejects the pod for now.
TEST_F(PreFilterExtensionsTest, RunAfterARejection) {
  Add("A", {Code::kUnschedulable, "not now"});
  PreFilter({});
  framework_.RunPreFilterExtensionAddPod(state_, pod_, *Info("x"), node_);
  EXPECT_EQ(CountInState(), 1);
}

TEST_F(PreFilterExtensionsTest, NominatedPodsAreAddedToACopyOfTheState) {
  Add("A");
  PreFilter({});
  EXPECT_EQ(
      Describe(framework_.RunFilterPluginsWithNominatedPods(
          state_, pod_, node_, {Info("x"), Info("low", 4), Info("y", 6)})),
      "Unschedulable by A: too many");
  EXPECT_THAT(calls_,
              ElementsAre("A: add x, node has 1", "A: add y, node has 2"));
  EXPECT_EQ(CountInState(), 0);
}

TEST_F(PreFilterExtensionsTest, WithoutNominatedPodsNothingIsAdded) {
  Add("A");
  PreFilter({});
  EXPECT_EQ(Describe(framework_.RunFilterPluginsWithNominatedPods(
                state_, pod_, node_, {Info("low", 4)})),
            "Success");
  EXPECT_THAT(calls_, IsEmpty());
}

TEST_F(PreFilterExtensionsTest, VictimsAreRemovedFromACopyOfTheState) {
  Add("A");
  PreFilter({NewPodOf("a", {.priority = 1}), NewPodOf("b", {.priority = 2})});
  const auto candidate =
      SelectVictimsOnNode(framework_, state_, pod_, node_, {});
  ASSERT_TRUE(candidate) << Describe(candidate.error());
  EXPECT_EQ(NamesOfVictims(*candidate), "a");
  EXPECT_THAT(calls_,
              ElementsAre("A: remove a, node has 1", "A: remove b, node has 0",
                          "A: add b, node has 1", "A: add a, node has 2",
                          "A: remove a, node has 1"));
  EXPECT_EQ(CountInState(), 2);
}

}  // namespace
}  // namespace minisched
