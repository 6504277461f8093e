// Tests what the trace shows of an attempt in which extenders are asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "minisched/base/fake_clock.h"
#include "scheduler.h"
#include "testing/scripted_cluster.h"
#include "tests/extender_testing.h"
#include "tests/preemption_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A scheduler with the nodes a, b and c, and the pod web. Its clock stands
// still.
class ExtenderReportsTest : public ::testing::Test {
 protected:
  ExtenderReportsTest() {
    for (const char* name : {"a", "b", "c"}) cluster_.Add(NewNodeOf(name, 4));
    Pod pod;
    pod.metadata = {.name = "web", .namespace_name = "default", .uid = "web"};
    pod.metadata.resource_version = "1";
    pod.spec.scheduler_name = "minisched";
    cluster_.Add(pod);
    fake_.Answers("prioritize", R"([{"Host":"b","Score":5}])");
  }

  // Starts the scheduler and returns its first attempt.
  Attempt Try() {
    TraceReader reader(trace_, AttemptDetail::kAllRejections);
    SchedulerOptions options;
    options.configuration.extenders = {
        fake_.With({.filter_verb = "filter",
                    .prioritize_verb = "prioritize",
                    .bind_verb = "bind",
                    .weight = 1,
                    .node_cache_capable = true})};
    client_ = std::make_unique<Client>(cluster_.config());
    scheduler_ = std::make_unique<Scheduler>(
        AppContext{*client_, "minisched", trace_, {}}, options, clock_);
    thread_ = std::jthread(
        [this](const std::stop_token& stop) { scheduler_->Run(stop); });
    while (true) {
      for (const RecordPtr& record : reader.Next({})) {
        const auto* attempt = std::get_if<Attempt>(&record->state);
        if (attempt != nullptr) return *attempt;
      }
    }
  }

  static std::vector<std::string> Fits(const Attempt& attempt) {
    return {attempt.fits.begin(), attempt.fits.end()};
  }

  FakeExtender fake_;
  FakeClock clock_;
  ScriptedCluster cluster_{clock_};

 private:
  Trace trace_{"minisched", clock_};
  std::unique_ptr<Client> client_;
  std::unique_ptr<Scheduler> scheduler_;
  std::jthread thread_;  // last: it uses the other members
};

TEST_F(ExtenderReportsTest, ScoresAreOfTheNodesThatAreLeft) {
  fake_.Answers("filter",
                R"({"NodeNames":["b","c"],"FailedNodes":{"a":"too hot"}})");
  const Attempt attempt = Try();
  EXPECT_EQ(attempt.node, "b");
  EXPECT_THAT(Fits(attempt), ElementsAre("b", "c"));
  for (const ScoreColumn& column : attempt.scores) {
    EXPECT_THAT(column.raw, SizeIs(2)) << column.plugin;
  }
  ASSERT_EQ(attempt.rejected.size(), 1);
  const RejectedNode& rejected = *attempt.rejected.begin();
  EXPECT_EQ(rejected.node, "a");
  ASSERT_THAT(rejected.rejections, SizeIs(1));
  EXPECT_EQ(rejected.rejections[0].plugin, fake_.url());
  EXPECT_THAT(rejected.rejections[0].reasons, ElementsAre("too hot"));
}

TEST_F(ExtenderReportsTest, ANodeWithoutAReasonHasNoScore) {
  fake_.Answers("filter", R"({"NodeNames":["b","c"]})");
  const Attempt attempt = Try();
  EXPECT_THAT(Fits(attempt), ElementsAre("b", "c"));
  for (const ScoreColumn& column : attempt.scores) {
    EXPECT_THAT(column.raw, SizeIs(2)) << column.plugin;
  }
}

TEST_F(ExtenderReportsTest, NoNodeFitsIfTheExtenderAllowsNone) {
  fake_.Answers("filter", R"({"FailedNodes":{"a":"hot","b":"hot","c":"hot"}})");
  const Attempt attempt = Try();
  EXPECT_THAT(Fits(attempt), IsEmpty());
  EXPECT_EQ(attempt.rejected.size(), 3);
}

}  // namespace
}  // namespace minisched
