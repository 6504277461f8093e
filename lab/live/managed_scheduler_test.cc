#include "lab/live/managed_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>

#include "lab/live/files_testing.h"
#include "minisched/base/fake_clock.h"
#include "testing/log_capture.h"

namespace minisched::live {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Runs until its configuration is "end: true", and then exits with code 3. Each
// start appends the last line of its configuration to the file $STARTS.
constexpr const char* kCommand =
    "grep -E '\"(a|end)\"' $SCHEDULER_CONFIG | tr -d '\", ' >>$STARTS; "
    "echo some log; echo last words; "
    "if grep -q end $SCHEDULER_CONFIG; then exit 3; fi; exec sleep 60";

class ManagedSchedulerTest : public ::testing::Test {
 protected:
  void Start(const std::string& config, const std::string& command = kCommand) {
    const TestFile file(config);
    scheduler_.emplace(
        command, file.path(), scenario::RunSettings{.kubeconfig = "/the/file"},
        std::map<std::string, std::string>{{"STARTS", starts_.path()}}, clock_);
  }

  std::string Starts() const {
    std::ifstream file(starts_.path());
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // Polls until the predicate holds, for 20 s at most.
  template <class Predicate>
  void PollUntil(Predicate holds) {
    const auto deadline = RealClock().Now() + std::chrono::seconds(20);
    while (!holds() && RealClock().Now() < deadline) {
      scheduler_->Poll();
      RealClock().SleepFor(std::chrono::milliseconds(2), {});
    }
    EXPECT_TRUE(holds());
  }

  void Ask(const std::string& method, const std::string& config = "") {
    scheduler_->Handle(
        {.method = method, .body = config},
        [this](http::Reply reply) { reply_ = std::move(reply); });
  }

  const TestFile starts_{""};
  FakeClock clock_;
  std::optional<ManagedScheduler> scheduler_;
  std::optional<http::Reply> reply_;
};

TEST_F(ManagedSchedulerTest, StartsWithACopyOfTheConfiguration) {
  Start("a: 1\n");
  PollUntil([&] { return Starts() == "a:1\n"; });
  Ask("GET");
  EXPECT_EQ(reply_->body, "a: 1\n");
  EXPECT_EQ(reply_->content_type, "application/yaml");
}

TEST_F(ManagedSchedulerTest, CompletesTheConfiguration) {
  Start("a: 1\n", "cat $SCHEDULER_CONFIG >$STARTS; exec sleep 60");
  PollUntil([&] { return Starts().ends_with("}\n"); });
  EXPECT_THAT(Starts(), AllOf(HasSubstr(R"("kubeconfig": "/the/file")"),
                              HasSubstr(R"("leaderElect": false)")));
}

TEST_F(ManagedSchedulerTest, RestartsWithAnotherConfiguration) {
  Start("a: 1\n");
  PollUntil([&] { return Starts() == "a:1\n"; });
  Ask("PUT", "a: 2\n");
  PollUntil([&] { return Starts() == "a:1\na:2\n"; });
  EXPECT_FALSE(reply_);
  clock_.Advance(ManagedScheduler::kTrial);
  PollUntil([&] { return reply_.has_value(); });
  EXPECT_EQ(reply_->status, 204);
  Ask("GET");
  EXPECT_EQ(reply_->body, "a: 2\n");
}

TEST_F(ManagedSchedulerTest, ReturnsToTheOldConfiguration) {
  Start("a: 1\n");
  PollUntil([&] { return Starts() == "a:1\n"; });
  Ask("PUT", "end: true\n");
  PollUntil([&] { return reply_.has_value(); });
  EXPECT_EQ(reply_->status, 409);
  EXPECT_THAT(reply_->body,
              AllOf(HasSubstr("the old configuration is back"),
                    HasSubstr("exit code 3"), HasSubstr("last words")));
  PollUntil([&] { return Starts() == "a:1\nend:true\na:1\n"; });
  Ask("GET");
  EXPECT_EQ(reply_->body, "a: 1\n");
}

TEST_F(ManagedSchedulerTest, GoesOnIfTheOldConfigurationFailsToo) {
  // Only the first start succeeds.
  Start(
      "a: 1\n",
      "echo x >>$STARTS; test $(wc -l <$STARTS) = 1 && exec sleep 60; exit 3");
  PollUntil([&] { return Starts() == "x\n"; });
  Ask("PUT", "a: 2\n");
  const LogCapture log;
  PollUntil([&] {
    return log.text().find("Save its configuration") != std::string::npos;
  });
  EXPECT_EQ(reply_->status, 409);
  Ask("GET");
  EXPECT_EQ(reply_->body, "a: 1\n");
}

TEST_F(ManagedSchedulerTest, RefusesMalformedYaml) {
  Start("a: 1\n");
  Ask("PUT", "a: [\n");
  EXPECT_EQ(reply_->status, 400);
  EXPECT_THAT(reply_->body, HasSubstr("\"line\":2"));
  Ask("PUT", "[1]");
  EXPECT_EQ(reply_->status, 400);
}

TEST_F(ManagedSchedulerTest, RefusesAChangeDuringAnother) {
  Start("a: 1\n");
  Ask("PUT", "a: 2\n");
  EXPECT_FALSE(reply_);
  Ask("PUT", "a: 3\n");
  EXPECT_EQ(reply_->status, 409);
}

TEST_F(ManagedSchedulerTest, FailsIfTheFirstStartFails) {
  Start("end: true\n");
  try {
    PollUntil([] { return false; });
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("exit code 3"), HasSubstr("last words")));
  }
}

TEST_F(ManagedSchedulerTest, AChangeStartsASchedulerThatHasEnded) {
  Start("a: 1\n", "grep -o '\"a\": .' $SCHEDULER_CONFIG >>$STARTS; sleep 0.2");
  clock_.Advance(ManagedScheduler::kTrial);
  RealClock().SleepFor(std::chrono::milliseconds(400), {});
  scheduler_->Poll();
  Ask("PUT", "a: 2\n");
  PollUntil([&] { return Starts() == "\"a\": 1\n\"a\": 2\n"; });
}

TEST_F(ManagedSchedulerTest, ReportsAFileThatCannotBeRead) {
  EXPECT_THROW(ManagedScheduler("true", "/nowhere/c", {}, {}),
               std::runtime_error);
}

}  // namespace
}  // namespace minisched::live
