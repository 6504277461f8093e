// Tests what happens when a binding cycle fails, and in which order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "testing/log_capture.h"
#include "tests/binding_cycle_testing.h"

namespace minisched {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// Records in Unreserve how many pods the cache counts on the node.
class Witness final : public ReservePlugin {
 public:
  // The references must outlive the plugin.
  Witness(Scheduler& scheduler, VolumeScript& calls)
      : scheduler_(scheduler), calls_(calls) {}
  std::string_view Name() const override { return "Witness"; }
  Status Reserve(CycleState& /*state*/, const Pod& /*pod*/,
                 const std::string& /*node_name*/) override {
    return {};
  }
  void Unreserve(CycleState& /*state*/, const Pod& /*pod*/,
                 const std::string& node_name) override {
    Snapshot snapshot;
    SchedulerPeer::UpdateSnapshot(scheduler_, snapshot);
    calls_.Record(fmt::format("{} has {} pods", node_name,
                              snapshot.Get(node_name)->pods().size()));
  }

 private:
  Scheduler& scheduler_;
  VolumeScript& calls_;
};

class BindingCycleErrorsTest : public BindingCycleTest {
 protected:
  void AddPlugins(Scheduler& scheduler) override {
    BindingCycleTest::AddPlugins(scheduler);
    SchedulerPeer::Add(scheduler,
                       std::make_unique<Witness>(scheduler, volumes_));
  }
};

// As upstream. Otherwise, the next pod could get the node while the plugins
// still hold what they have reserved for this pod.
TEST_F(BindingCycleErrorsTest, TheCacheForgetsThePodAfterUnreserve) {
  Start({NewNode("n")}, {NewPod("a")});
  TakeBinding();
  Fail("a");
  AwaitMove("a", Place::kBackoff);
  EXPECT_THAT(volumes_.AwaitCalls(4), Contains("n has 1 pods"));
  Snapshot snapshot;
  SchedulerPeer::UpdateSnapshot(*scheduler_, snapshot);
  EXPECT_EQ(snapshot.Get("n")->pods().size(), 0U);
}

// Another scheduler has bound the pod to another node. So the pod isn't
// requeued, but its room on the first node is free.
TEST_F(BindingCycleErrorsTest, TheRoomOfAPodThatIsBoundElsewhereWakesPods) {
  Start({NewNode("n", /*allowed_pods=*/1), NewNode("o", /*allowed_pods=*/0)},
        {NewPod("a"), NewPod("b")});
  EXPECT_EQ(TakeBinding(), "a");
  AwaitMove("b", Place::kUnschedulable);
  Pod elsewhere = NewPod("a");
  elsewhere.spec.node_name = "o";
  cluster_.Send("MODIFIED", elsewhere);
  Fail("a");
  EXPECT_EQ(TakeBinding(), "b");
}

// The client throws when it has to send the PATCH of the pod's condition.
TEST_F(BindingCycleErrorsTest, AnImpossibleNameIsLogged) {
  const LogCapture log;
  Start({NewNode("n")}, {NewPod("a%2fb")});
  AwaitMove("a%2fb", Place::kBackoff);
  AwaitWrites(1);
  Stop();
  EXPECT_THAT(log.text(),
              HasSubstr("failed to patch the status of pod default/a%2fb: "
                        "invalid resource name \"a%2fb\""));
}

}  // namespace
}  // namespace minisched
