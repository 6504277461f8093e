#include "minisched/app/pace.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "minisched/api/parse_error.h"
#include "minisched/base/fake_clock.h"
#include "minisched/client/errors.h"
#include "testing/waiting_thread.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST(ParsePaceTest, ParsesAPace) {
  EXPECT_FALSE(ParsePace("run").by_key);
  EXPECT_EQ(ParsePace("run").every, std::nullopt);
  EXPECT_TRUE(ParsePace("step").by_key);
  EXPECT_EQ(ParsePace("step").every, std::nullopt);
  const std::vector<std::pair<const char*, Clock::Duration>> durations = {
      {"500ms", 500ms}, {"1.5s", 1500ms}, {"1ns", 1ns}, {"24h", 24h}};
  for (const auto& [text, every] : durations) {
    EXPECT_FALSE(ParsePace(text).by_key) << text;
    EXPECT_EQ(ParsePace(text).every, every) << text;
  }
}

TEST(ParsePaceTest, RejectsOtherTextInOneLine) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"none", R"("none")"},
      {"", R"("")"},
      {"0", R"("0")"},
      {"0s", R"("0s")"},
      {"-1s", R"("-1s")"},
      {"1", R"("1")"},
      {"24h1ns", R"("24h1ns")"},
      {"2562047h", R"("2562047h")"},
      {"9999999h", R"("9999999h")"},
      {"Run", R"("Run")"},
      {"step ", R"("step ")"},
      {"a\n\x1b", R"("a\x0a\x1b")"}};
  for (const auto& [text, quoted] : cases) {
    try {
      ParsePace(text);
      ADD_FAILURE() << text;
    } catch (const ParseError& error) {
      EXPECT_EQ(error.what(),
                std::string(quoted) +
                    " is not a pace: use run, step, or a positive duration of "
                    "at most 24h, such as 500ms");
    }
  }
}

class PaceSetterTest : public ::testing::Test {
 protected:
  PaceSetterTest() { Paused(); }
  ~PaceSetterTest() override { stop_.request_stop(); }

  // Returns whether the scheduler is paused according to the trace's next
  // records. Blocks until there is a record. Returns nullopt after 20 s.
  std::optional<bool> Paused() {
    std::stop_source late;
    const std::jthread guard([&late](const std::stop_token& done) {
      if (RealClock().SleepFor(20s, done)) late.request_stop();
    });
    const auto records = reader_.Next(late.get_token());
    if (records.empty()) return std::nullopt;
    return std::get<SchedulerRecord>(records.back()->state).paused;
  }

  // Starts a thread that takes a pod, and returns when the thread blocks.
  void BlockAPod() {
    thread_.emplace([this] {
      trace_.Paced([] { return std::optional(1); }, stop_.get_token());
    });
    ASSERT_TRUE(thread_->AwaitSleep());
  }

  FakeClock clock_;
  Trace trace_{"minisched", clock_};
  TraceReader reader_{trace_};
  std::stop_source stop_;         // of the scheduler
  std::stop_source setter_stop_;  // of the PaceSetter
  std::optional<WaitingThread> thread_;
};

TEST_F(PaceSetterTest, RunLeavesTheSchedulerRunning) {
  { const PaceSetter pace(trace_, {}, setter_stop_.get_token(), clock_); }
  EXPECT_EQ(trace_.Paced([] { return std::optional(1); }, {}), 1);
}

TEST_F(PaceSetterTest, ADurationTakesOnePodPerPeriod) {
  const auto start = clock_.Now();
  const PaceSetter pace(trace_, {.every = 10s}, setter_stop_.get_token(),
                        clock_);
  EXPECT_EQ(Paused(), true);
  for (int i = 1; i <= 3; ++i) {
    BlockAPod();
    clock_.AwaitDeadline(start + i * 10s);
    clock_.Advance(10s);
    EXPECT_TRUE(thread_->AwaitEnd());
  }
  BlockAPod();
}

TEST_F(PaceSetterTest, LeavesTheSchedulerPaused) {
  {
    const PaceSetter pace(trace_, {.every = 10s}, setter_stop_.get_token(),
                          clock_);
  }
  EXPECT_EQ(Paused(), true);
  BlockAPod();
}

TEST_F(PaceSetterTest, SetReplacesThePace) {
  PaceSetter pace(trace_, {.every = 10s}, setter_stop_.get_token(), clock_);
  EXPECT_EQ(Paused(), true);
  EXPECT_EQ(pace.pace(), "10s");
  pace.Set("run");
  EXPECT_EQ(Paused(), false);
  EXPECT_EQ(pace.pace(), "run");
  pace.Set("pause");
  EXPECT_EQ(Paused(), true);
  EXPECT_EQ(pace.pace(), "pause");
  BlockAPod();
  pace.Set("step");
  EXPECT_TRUE(thread_->AwaitEnd());
  EXPECT_EQ(Paused(), true);
  pace.Set("500ms");
  EXPECT_EQ(pace.pace(), "500ms");
  BlockAPod();
  clock_.AwaitDeadline(clock_.Now() + 500ms);
  clock_.Advance(500ms);
  EXPECT_TRUE(thread_->AwaitEnd());
}

TEST_F(PaceSetterTest, AnInvalidPaceChangesNothing) {
  PaceSetter pace(trace_, {.every = 10s}, setter_stop_.get_token(), clock_);
  for (const char* text : {"", "x", "0s", "-1s", "25h", "Run"}) {
    EXPECT_THROW(pace.Set(text), ParseError) << text;
  }
  EXPECT_EQ(pace.pace(), "10s");
  clock_.AwaitDeadline(clock_.Now() + 10s);
}

// Replaces standard input while the test runs.
class PaceByKeyTest : public PaceSetterTest {
 protected:
  PaceByKeyTest() : stdin_before_(dup(STDIN_FILENO)) {}
  ~PaceByKeyTest() override {
    dup2(stdin_before_, STDIN_FILENO);
    close(stdin_before_);
    if (keyboard_ >= 0) close(keyboard_);
  }

  static void ReadFrom(const char* path) {
    const int file = open(path, O_RDWR | O_NOCTTY);
    ASSERT_GE(file, 0) << path;
    dup2(file, STDIN_FILENO);
    close(file);
  }

  void ReadFromATerminal() {
    keyboard_ = posix_openpt(O_RDWR | O_NOCTTY);
    ASSERT_GE(keyboard_, 0);
    ASSERT_EQ(grantpt(keyboard_), 0);
    ASSERT_EQ(unlockpt(keyboard_), 0);
    ReadFrom(ptsname(keyboard_));
  }

  void Press(char key) const { ASSERT_EQ(write(keyboard_, &key, 1), 1); }

  // Returns the flags of the terminal on standard input.
  static tcflag_t TerminalFlags() {
    termios terminal{};
    EXPECT_EQ(tcgetattr(STDIN_FILENO, &terminal), 0);
    return terminal.c_lflag;
  }

 private:
  int stdin_before_;
  int keyboard_ = -1;  // the other end of the terminal
};

TEST_F(PaceByKeyTest, NeedsATerminal) {
  ReadFrom("/dev/null");
  try {
    const PaceSetter pace(trace_, {.by_key = true}, setter_stop_.get_token(),
                          clock_);
    ADD_FAILURE() << "/dev/null is no terminal";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--pace step needs a terminal"));
  }
  EXPECT_EQ(trace_.Paced([] { return std::optional(1); }, {}), 1);
}

TEST_F(PaceByKeyTest, KeysSetThePace) {
  ReadFromATerminal();
  const PaceSetter pace(trace_, {.by_key = true}, setter_stop_.get_token(),
                        clock_);
  EXPECT_EQ(Paused(), true);
  for (const char key : {'x', ' ', '\n'}) {
    BlockAPod();
    Press(key);
    EXPECT_TRUE(thread_->AwaitEnd());
    EXPECT_EQ(Paused(), true);
  }
  BlockAPod();
  Press('r');
  EXPECT_TRUE(thread_->AwaitEnd());
  EXPECT_EQ(Paused(), false);
  Press('p');
  EXPECT_EQ(Paused(), true);
  BlockAPod();
}

TEST_F(PaceByKeyTest, RestoresTheTerminal) {
  ReadFromATerminal();
  const tcflag_t before = TerminalFlags();
  ASSERT_EQ(before & (ICANON | ECHO | ISIG), ICANON | ECHO | ISIG);
  {
    const PaceSetter pace(trace_, {.by_key = true}, setter_stop_.get_token(),
                          clock_);
    // Keys that send a signal, such as Ctrl-C, still do so.
    EXPECT_EQ(TerminalFlags() & (ICANON | ECHO | ISIG), ISIG);
  }
  EXPECT_EQ(TerminalFlags(), before);
}

TEST_F(PaceByKeyTest, AStopRestoresTheTerminalAtOnce) {
  ReadFromATerminal();
  const tcflag_t before = TerminalFlags();
  const PaceSetter pace(trace_, {.by_key = true}, setter_stop_.get_token(),
                        clock_);
  EXPECT_NE(TerminalFlags(), before);
  setter_stop_.request_stop();
  EXPECT_EQ(TerminalFlags(), before);
}

}  // namespace
}  // namespace minisched
