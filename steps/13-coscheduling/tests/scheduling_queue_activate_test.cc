// Tests that plugins can activate pods, whatever keeps them waiting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string_view>

#include "tests/queueing_hints_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// A queue with a plugin that gates all pods while `closed_`.
class ActivateTest : public QueueingHintsTest {
 protected:
  ActivateTest() { framework_.Add(std::make_unique<Gate>(closed_)); }

  std::string_view PlaceOf(const std::string& uid) {
    return PlaceName(Record(uid).place);
  }

  bool closed_ = false;

 private:
  class Gate final : public PreEnqueuePlugin {
   public:
    explicit Gate(const bool& closed) : closed_(closed) {}
    std::string_view Name() const override { return "Gate"; }
    std::vector<ClusterEventWithHint> EventsToRegister() const override {
      return {};
    }
    Status PreEnqueue(const Pod& pod) const override {
      if (!closed_ || pod.metadata.name == "the end") return {};
      return Code::kUnschedulable;
    }

   private:
    const bool& closed_;
  };
};

TEST_F(ActivateTest, IgnoresTheBackoff) {
  Add("failed");
  Fail();
  Add("rejected");
  Reject();
  Add("active");
  queue_.Activate({MakePod("rejected"), MakePod("failed"), MakePod("active"),
                   MakePod("nobody")});
  EXPECT_THAT(Rest(), UnorderedElementsAre("active", "failed", "rejected"));
}

TEST_F(ActivateTest, APodInFlightIsNotLost) {
  Add("a");
  const QueuedPodInfo info = Pop();
  queue_.Activate({info.pod});
  Reject(info);
  EXPECT_THAT(After(kSecond), ElementsAre("a"));
}

TEST_F(ActivateTest, APodInFlightCountsForThatPodOnly) {
  for (const char* name : {"a", "b"}) Add(name);
  const QueuedPodInfo activated = Pop();
  const QueuedPodInfo other = Pop();
  queue_.Activate({activated.pod});
  RejectBy(activated, {"NodeAffinity"});
  RejectBy(other, {"NodeAffinity"});
  EXPECT_THAT(CalledHints(), IsEmpty());
  EXPECT_THAT(After(std::chrono::minutes(4)), ElementsAre("a"));
}

TEST_F(ActivateTest, AGatedPodStaysGated) {
  closed_ = true;
  Add("a");
  queue_.Activate({MakePod("a")});
  EXPECT_THAT(Rest(), IsEmpty());
  EXPECT_EQ(PlaceOf("a"), "gated");
  closed_ = false;
  queue_.Activate({MakePod("a")});
  EXPECT_THAT(Rest(), ElementsAre("a"));
}

TEST_F(ActivateTest, GatesAPodThatPreEnqueueRejects) {
  for (const char* name : {"failed", "rejected"}) Add(name);
  Fail();
  Reject();
  closed_ = true;
  queue_.Activate({MakePod("failed"), MakePod("rejected")});
  EXPECT_EQ(PlaceOf("failed"), "gated");
  EXPECT_EQ(PlaceOf("rejected"), "gated");
  EXPECT_THAT(After(std::chrono::hours(1)), IsEmpty());
  closed_ = false;
  queue_.Activate({MakePod("failed")});
  EXPECT_THAT(Rest(), ElementsAre("failed"));
}

TEST(WildCardTest, NoEventOfAPluginMatches) {
  const ClusterEvent wild_card{EventResource::kWildCard, action::kAll};
  for (const EventResource resource :
       {EventResource::kPod, EventResource::kNode}) {
    EXPECT_FALSE((ClusterEvent{resource, action::kAll}.Matches(wild_card)));
  }
}

}  // namespace
}  // namespace minisched
