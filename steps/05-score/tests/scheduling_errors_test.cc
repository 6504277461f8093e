// Tests that an error concerns one pod only, and that the pod isn't bound.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "minisched/base/fake_clock.h"
#include "scheduler.h"
#include "testing/scripted_cluster.h"
#include "tests/scheduler_testing.h"

namespace minisched {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

// Returns a pod whose uid is its name.
Pod PodNamed(const std::string& name) {
  Pod pod;
  pod.metadata.namespace_name = "default";
  pod.metadata.name = name;
  pod.metadata.uid = name;
  pod.metadata.resource_version = "1";
  pod.spec.scheduler_name = "minisched";
  return pod;
}

Node NodeNamed(const std::string& name) {
  Node node;
  node.metadata.name = name;
  node.metadata.resource_version = "1";
  node.status.allocatable["pods"] = Quantity::FromValue(110);
  return node;
}

// A plugin that fails at one extension point.
class FailingPlugin final : public PreFilterPlugin,
                            public FilterPlugin,
                            public PreScorePlugin,
                            public ScorePlugin {
 public:
  explicit FailingPlugin(std::string point) : point_(std::move(point)) {}
  std::string_view Name() const override { return "Failing"; }
  Status PreFilter(CycleState& /*state*/, const Pod& /*pod*/,
                   const Nodes& /*nodes*/,
                   PreFilterResult& /*result*/) const override {
    return StatusAt("PreFilter");
  }
  Status Filter(const CycleState& /*state*/, const Pod& /*pod*/,
                const NodeInfo& /*node*/) const override {
    return StatusAt("Filter");
  }
  Status PreScore(CycleState& /*state*/, const Pod& /*pod*/,
                  const Nodes& /*nodes*/) const override {
    return StatusAt("PreScore");
  }
  Status Score(const CycleState& /*state*/, const Pod& /*pod*/,
               const NodeInfo& /*node*/,
               std::int64_t& /*score*/) const override {
    return StatusAt("Score");
  }

 private:
  Status StatusAt(std::string_view point) const {
    return point == point_ ? Status(Code::kError, "disk full") : Status();
  }

  const std::string point_;
};

class SchedulingErrorsTest : public ::testing::Test {
 protected:
  ~SchedulingErrorsTest() override { stop_.request_stop(); }

  // Starts a scheduler for the objects of cluster_.
  void Start() {
    run_ = std::async(std::launch::async,
                      [this] { scheduler_.Run(stop_.get_token()); });
  }

  // Blocks until the scheduler has sent `count` writes other than Bindings.
  // Returns their bodies.
  std::vector<std::string> AwaitWrites(std::size_t count) {
    std::vector<std::string> bodies;
    for (const auto& request : cluster_.AwaitWrites(count)) {
      bodies.push_back(request.body);
    }
    return bodies;
  }

  // Blocks until the scheduler has sent a write whose body has this text.
  void AwaitWriteWith(const std::string& text) {
    for (std::size_t count = 1;; ++count) {
      for (const std::string& body : AwaitWrites(count)) {
        if (body.find(text) != std::string::npos) return;
      }
    }
  }

  FakeClock clock_;
  ScriptedCluster cluster_{clock_};
  Client client_{cluster_.config()};
  Trace trace_{"minisched", clock_};
  Scheduler scheduler_{{client_, "minisched", trace_, {}}, {}, clock_};

 private:
  std::stop_source stop_;
  std::future<void> run_;  // last: Run() uses the other members
};

// The client throws when it has to send the PATCH of the pod's condition.
TEST_F(SchedulingErrorsTest, AnImpossibleNameDoesNotHoldUpTheNextPod) {
  Node node = NodeNamed("n");
  node.spec.unschedulable = true;
  cluster_.Add(node);
  cluster_.Add(PodNamed("a%2fb"));
  Start();
  AwaitWriteWith("FailedScheduling");
  cluster_.Send("ADDED", PodNamed("next"));
  AwaitWriteWith("PodScheduled");
}

class PluginErrorTest : public SchedulingErrorsTest,
                        public ::testing::WithParamInterface<std::string> {};

TEST_P(PluginErrorTest, IsReported) {
  SchedulerPeer::Add(scheduler_, std::make_unique<FailingPlugin>(GetParam()));
  cluster_.Add(NodeNamed("n"));
  cluster_.Add(NodeNamed("o"));
  cluster_.Add(PodNamed("a"));
  Start();
  EXPECT_THAT(AwaitWrites(2),
              UnorderedElementsAre(
                  AllOf(HasSubstr("FailedScheduling"), HasSubstr("disk full")),
                  AllOf(HasSubstr("SchedulerError"), HasSubstr("disk full"))));
}

INSTANTIATE_TEST_SUITE_P(Points, PluginErrorTest,
                         ::testing::Values("PreFilter", "Filter", "PreScore",
                                           "Score"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace minisched
