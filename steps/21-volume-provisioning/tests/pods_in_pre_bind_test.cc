#include "framework/pods_in_pre_bind.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "tests/status_testing.h"

namespace minisched {
namespace {

class PodsInPreBindTest : public ::testing::Test {
 protected:
  bool Cancel(const std::string& cause = "preempted") {
    return pods_.CancelPod("web", cause, [this] { ++gone_; });
  }
  static Status FailedWith(const std::string& message) {
    return Status(Code::kError, message).WithPlugin("Volumes");
  }

  int gone_ = 0;
  PodsInPreBind pods_;
};

TEST_F(PodsInPreBindTest, APodThatIsNotInPreBindCannotBeCancelled) {
  const PodInPreBind other(pods_, "db", {});
  EXPECT_FALSE(Cancel());
  { const PodInPreBind web(pods_, "web", {}); }
  EXPECT_FALSE(Cancel());
  EXPECT_EQ(gone_, 0);
}

TEST_F(PodsInPreBindTest, CancelAsksThePreBindToStop) {
  {
    PodInPreBind web(pods_, "web", {});
    EXPECT_FALSE(web.stop_token().stop_requested());
    EXPECT_TRUE(Cancel());
    EXPECT_TRUE(web.stop_token().stop_requested());
    EXPECT_EQ(Describe(web.MarkPrebound(FailedWith("context canceled"))),
              "Error by Volumes: running PreBind plugin \"Volumes\": "
              "preempted");
    EXPECT_EQ(gone_, 0) << "the pod has not given back its resources";
  }
  EXPECT_EQ(gone_, 1);
}

TEST_F(PodsInPreBindTest, WithoutACancelTheResultCounts) {
  PodInPreBind web(pods_, "web", {});
  EXPECT_EQ(Describe(web.MarkPrebound(FailedWith("no"))),
            "Error by Volumes: no");
  EXPECT_EQ(Describe(web.MarkPrebound({})), "Success");
}

TEST_F(PodsInPreBindTest, ACancelJustBeforeTheSuccessCounts) {
  PodInPreBind web(pods_, "web", {});
  EXPECT_TRUE(Cancel());
  EXPECT_EQ(Describe(web.MarkPrebound({})), "Error: preempted");
}

TEST_F(PodsInPreBindTest, AfterTheSuccessThePodCannotBeCancelled) {
  {
    PodInPreBind web(pods_, "web", {});
    web.MarkPrebound({});
    EXPECT_FALSE(Cancel());
    EXPECT_FALSE(web.stop_token().stop_requested());
  }
  EXPECT_EQ(gone_, 0);
}

// It is about to give back its resources, so it need not be deleted.
TEST_F(PodsInPreBindTest, AfterAFailureThePodCanBeCancelled) {
  {
    PodInPreBind web(pods_, "web", {});
    web.MarkPrebound(FailedWith("no"));
    EXPECT_TRUE(Cancel());
  }
  EXPECT_EQ(gone_, 1);
}

TEST_F(PodsInPreBindTest, TheFirstCauseCountsAndAllCallersAreCalled) {
  {
    PodInPreBind web(pods_, "web", {});
    EXPECT_TRUE(Cancel("preempted by A"));
    EXPECT_TRUE(Cancel("preempted by B"));
    EXPECT_EQ(Describe(web.MarkPrebound({})), "Error: preempted by A");
    EXPECT_TRUE(Cancel("preempted by C"));
  }
  EXPECT_EQ(gone_, 3);
}

TEST_F(PodsInPreBindTest, TheSchedulersStopIsNoCancel) {
  std::stop_source stop;
  PodInPreBind web(pods_, "web", stop.get_token());
  stop.request_stop();
  EXPECT_TRUE(web.stop_token().stop_requested());
  EXPECT_EQ(Describe(web.MarkPrebound(FailedWith("context canceled"))),
            "Error by Volumes: context canceled");
  const PodInPreBind late(pods_, "db", stop.get_token());
  EXPECT_TRUE(late.stop_token().stop_requested());
}

// A pod is requeued before its attempt has come to its end.
TEST_F(PodsInPreBindTest, TheEndOfAnAttemptLeavesTheNextOneAlone) {
  auto first = std::make_unique<PodInPreBind>(pods_, "web", std::stop_token());
  PodInPreBind second(pods_, "web", {});
  first.reset();
  EXPECT_TRUE(Cancel());
  EXPECT_TRUE(second.stop_token().stop_requested());
}

TEST_F(PodsInPreBindTest, TheSuccessOfAnAttemptLeavesTheNextOneAlone) {
  PodInPreBind first(pods_, "web", {});
  PodInPreBind second(pods_, "web", {});
  first.MarkPrebound({});
  EXPECT_TRUE(Cancel());
  EXPECT_FALSE(first.stop_token().stop_requested());
  EXPECT_TRUE(second.stop_token().stop_requested());
}

// What waits for the stop may end the pod at once.
TEST_F(PodsInPreBindTest, ThePodMayEndWhileItIsCancelled) {
  std::stop_source stop;
  for (const bool by_stop : {false, true}) {
    auto web = std::make_unique<PodInPreBind>(pods_, "web", stop.get_token());
    const std::stop_token token = web->stop_token();
    const std::stop_callback end(token, [&] { web.reset(); });
    if (by_stop) {
      stop.request_stop();
    } else {
      EXPECT_TRUE(Cancel());
    }
    EXPECT_EQ(web, nullptr);
    EXPECT_EQ(gone_, 1);
  }
}

// As the next eviction does.
TEST_F(PodsInPreBindTest, TheCallerMayCancelAnotherPodWhenOneIsGone) {
  auto web = std::make_unique<PodInPreBind>(pods_, "web", std::stop_token());
  const PodInPreBind db(pods_, "db", {});
  pods_.CancelPod("web", "preempted", [&] {
    EXPECT_TRUE(pods_.CancelPod("db", "preempted", [] {}));
    EXPECT_FALSE(Cancel()) << "no longer in PreBind";
  });
  web.reset();
  EXPECT_TRUE(db.stop_token().stop_requested());
}

}  // namespace
}  // namespace minisched
