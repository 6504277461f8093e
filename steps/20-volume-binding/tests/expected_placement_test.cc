// The nomination of a pod that waits on Permit or in PreBind. Cases from
// TestSchedulerScheduleOne of upstream's schedule_one_test.go are named in
// comments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/permit_testing.h"

namespace minisched {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSubsetOf;
using ::testing::Not;

constexpr char kNomination[] = R"("status":{"nominatedNodeName":"node-1"})";
constexpr char kCleared[] = R"("nominatedNodeName":null)";

// A PreBind plugin whose preflight returns this status.
class PreFlight final : public PreBindPlugin {
 public:
  PreFlight(Status status, VolumeScript& calls)
      : status_(std::move(status)), calls_(calls) {}
  std::string_view Name() const override { return "PreFlight"; }
  Status PreBindPreFlight(const CycleState& /*state*/, const Pod& /*pod*/,
                          const std::string& /*node_name*/) const override {
    return status_;
  }
  void PreBind(CycleState& /*state*/, const Pod& pod,
               const std::string& /*node_name*/,
               const std::stop_token& /*stop*/,
               StatusCallback done) const override {
    calls_.Record("PreBind " + pod.metadata.name);
    done({});
  }

 private:
  const Status status_;
  VolumeScript& calls_;
};

class ExpectedPlacementTest : public PermitTest {
 protected:
  ~ExpectedPlacementTest() override { Stop(); }

  void AddPlugins(Scheduler& scheduler) override {
    if (!pre_flight_) return PermitTest::AddPlugins(scheduler);
    SchedulerPeer::Add(scheduler, std::make_unique<Doorman>("A", a_, volumes_));
    SchedulerPeer::Add(scheduler,
                       std::make_unique<PreFlight>(*pre_flight_, volumes_));
  }

  // Blocks until there are `count` writes, nominations included.
  std::vector<std::string> AllWrites(std::size_t count) {
    std::vector<std::string> bodies;
    for (const auto& request : cluster_.AwaitWrites(count)) {
      bodies.push_back(request.body);
    }
    return bodies;
  }

  // Set: the scheduler has this plugin instead of Volumes.
  std::optional<Status> pre_flight_;
};

// "prebind is called and nominated node name is set, if preflight returns
// success".
TEST_F(ExpectedPlacementTest, APodIsNominatedBeforePreBind) {
  volumes_.set_pre_bind(std::nullopt);
  Start({NewNode("node-1")}, {NewPod("web")});
  const StatusCallback done = volumes_.TakePreBind();
  EXPECT_THAT(AllWrites(1), ElementsAre(HasSubstr(kNomination)));
  done({});
  EXPECT_EQ(TakeBinding(), "web");
}

// "prebind isn't called and nominated node name isn't set, if preflight returns
// skip".
TEST_F(ExpectedPlacementTest, APodForWhichNothingIsToBeDoneIsNotNominated) {
  pre_flight_ = Code::kSkip;
  Start({NewNode("node-1")}, {NewPod("web")});
  EXPECT_EQ(TakeBinding(), "web");
  Succeed("web");
  EXPECT_THAT(AllWrites(1), ElementsAre(HasSubstr("Scheduled")));
  EXPECT_THAT(volumes_.AwaitCalls(0), Not(Contains("PreBind web")));
}

// "prebindpreflight failed with status code error".
TEST_F(ExpectedPlacementTest, AnErrorOfThePreFlightIsAnErrorOfThePod) {
  pre_flight_ = Status(Code::kError, "disk full");
  Start({NewNode("node-1")}, {NewPod("web")});
  AwaitMove("web", Place::kBackoff);
  EXPECT_THAT(AllWrites(2),
              ReportsFailure("SchedulerError",
                             "running PreBindPreFlight \\\"PreFlight\\\": disk "
                             "full"));
  EXPECT_THAT(volumes_.AwaitCalls(1),
              ElementsAre("Unreserve web on node-1 by A"));
}

// A pod that was going to wait on Permit must not be bound later.
TEST_F(ExpectedPlacementTest, AfterAnErrorOfThePreFlightThePodDoesNotWait) {
  pre_flight_ = Status(Code::kError, "disk full");
  a_.Set("web", Code::kWait, kTimeout);
  Start({NewNode("node-1")}, {NewPod("web")});
  AwaitMove("web", Place::kBackoff);
  EXPECT_FALSE(IsWaiting("web"));
}

TEST_F(ExpectedPlacementTest, APodThatWaitsOnPermitIsNominated) {
  pre_flight_ = Code::kSkip;
  a_.Set("web", Code::kWait, kTimeout);
  Start({NewNode("node-1")}, {NewPod("web")});
  AwaitWaiting("web");
  EXPECT_THAT(AllWrites(1), ElementsAre(HasSubstr(kNomination)));
  Waiting().Allow("web", "A");
  EXPECT_EQ(TakeBinding(), "web");
}

TEST_F(ExpectedPlacementTest, ARejectionOnPermitEndsTheNomination) {
  pre_flight_ = Code::kSkip;
  a_.Set("web", Code::kWait, kTimeout);
  Start({NewNode("node-1")}, {NewPod("web")});
  AwaitWaiting("web");
  AllWrites(1);
  Waiting().Reject("web", "A", "closed");
  // The informer doesn't have the nomination.
  EXPECT_THAT(AllWrites(3),
              Contains(AllOf(HasSubstr(kCleared), HasSubstr("closed"))));
}

TEST_F(ExpectedPlacementTest, AnErrorOfPreBindEndsTheNomination) {
  volumes_.set_pre_bind(Status(Code::kError, "disk full"));
  Start({NewNode("node-1")}, {NewPod("web")});
  EXPECT_THAT(AllWrites(3),
              Contains(AllOf(HasSubstr(kCleared), HasSubstr("disk full"))));
}

// The resources of an assumed pod must not count twice.
TEST_F(ExpectedPlacementTest, TheNominationTakesNoResources) {
  volumes_.set_pre_bind(std::nullopt);
  Start({NewNode("node-1", /*allowed_pods=*/2)}, {NewPod("a")});
  volumes_.TakePreBind();
  Pod nominated = NewPod("a");
  nominated.status.nominated_node_name = "node-1";
  cluster_.Send("MODIFIED", nominated);
  cluster_.Send("ADDED", NewPod("b"));
  volumes_.TakePreBind();
}

}  // namespace
}  // namespace minisched
