// Victims whose PreBind is under way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stop_token>

#include "tests/preemption_executor_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PreemptionInPreBindTest : public PreemptionExecutorTest {
 protected:
  void StartPreBind(const PodPtr& pod) {
    in_pre_bind_ = std::make_unique<PodInPreBind>(
        pods_in_pre_bind_, pod->metadata.uid, std::stop_token());
  }
  // Ends the PreBind as the binding cycle does.
  void GiveBack(const Pod& pod) {
    cache_.RemovePod(pod);
    in_pre_bind_.reset();
  }

  std::unique_ptr<PodInPreBind> in_pre_bind_;
};

TEST_F(PreemptionInPreBindTest, AVictimInPreBindIsCancelledNotDeleted) {
  before_ = [this] { StartPreBind(victim_); };
  Start({"a"});
  EXPECT_TRUE(in_pre_bind_->stop_token().stop_requested());
  EXPECT_EQ(Describe(in_pre_bind_->MarkPrebound({})),
            "Error: preempted by DefaultPreemption");
  EXPECT_TRUE(IsRunning()) << "the victim holds its resources";
  EXPECT_THAT(Notes(), IsEmpty());
  GiveBack(*victim_);
  AwaitEnd();
  EXPECT_FALSE(IsRunning());
  EXPECT_FALSE(IsEnding("a"));
  AwaitThat([this] { return Notes().size() == 1; });
  EXPECT_THAT(Notes(),
              ElementsAre("a: Preempted by pod urgent on node node-1 (in "
                          "kube-scheduler memory)."));
  EXPECT_THAT(retried(), IsEmpty());
}

// The next attempt of the victim may be on another node.
TEST_F(PreemptionInPreBindTest, TheGateIgnoresALaterAttemptOfTheVictim) {
  before_ = [this] { StartPreBind(victim_); };
  Start({"a"});
  GiveBack(*victim_);
  cache_.AddPod(victim_);
  AwaitEnd();
  EXPECT_FALSE(IsRunning());
}

TEST_F(PreemptionInPreBindTest, TheLastVictimWaitsForTheCancelledOne) {
  before_ = [this] { StartPreBind(victim_); };
  Start({"a", "b"});
  EXPECT_FALSE(IsEnding("b"));
  GiveBack(*victim_);
  AwaitEnd();
  EXPECT_FALSE(IsEnding("a"));
  EXPECT_TRUE(IsEnding("b"));
}

TEST_F(PreemptionInPreBindTest, AVictimWhoseBindingIsUnderWayIsDeleted) {
  before_ = [this] {
    StartPreBind(victim_);
    in_pre_bind_->MarkPrebound({});
  };
  Start({"a"});
  AwaitEnd();
  EXPECT_TRUE(IsEnding("a"));
  AwaitThat([this] { return Notes().size() == 1; });
  EXPECT_THAT(Notes(),
              ElementsAre("a: Preempted by pod urgent on node node-1"));
}

}  // namespace
}  // namespace minisched
