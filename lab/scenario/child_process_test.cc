#include "lab/scenario/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <thread>

#include "lab/scenario/errors.h"
#include "lab/scenario/files_testing.h"

namespace minisched::scenario {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

template <class Condition>
bool Eventually(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return true;
}

class ChildProcessTest : public testing::Test {
 protected:
  std::string Output() const { return LastLines(output_, 100); }
  bool AwaitOutput(const std::string& text) const {
    return Eventually([&] { return Output() == text; });
  }
  static bool IsAlive(pid_t pid) {
    // A zombie counts as dead.
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string word;
    stat >> word >> word >> word;
    return !word.empty() && word != "Z" && word != "X";
  }

  const TestDirectory directory_;
  const std::string output_ = directory_.path() / "output";
};

TEST_F(ChildProcessTest, ShellQuoteKeepsEveryCharacter) {
  const std::string text = R"(it's "$HOME" \ *)";
  ChildProcess child("printf '%s\\n' " + ShellQuote(text), {}, output_);
  EXPECT_TRUE(AwaitOutput(text + "\n"));
}

TEST_F(ChildProcessTest, PassesTheEnvironmentAndCapturesTheOutput) {
  ChildProcess child("echo $GREETING; echo $HOME >&2",
                     {{"GREETING", "hello"}, {"HOME", "/nowhere"}}, output_);
  EXPECT_TRUE(AwaitOutput("hello\n/nowhere\n"));
}

TEST_F(ChildProcessTest, EndedReturnsTheExitCodeOrSignal) {
  ChildProcess failed("exit 3", {}, output_);
  EXPECT_TRUE(Eventually([&] { return failed.Ended().has_value(); }));
  EXPECT_EQ(failed.Ended(), "exit code 3");
  ChildProcess killed("kill -9 $$", {}, output_);
  EXPECT_TRUE(Eventually([&] { return killed.Ended().has_value(); }));
  EXPECT_EQ(killed.Ended(), "signal 9");
  ChildProcess running("sleep 1000", {}, output_);
  EXPECT_EQ(running.Ended(), std::nullopt);
}

TEST_F(ChildProcessTest, StopSendsSigtermFirst) {
  ChildProcess child(
      "trap 'echo bye; exit 0' TERM; echo up; "
      "while :; do sleep 0.01; done",
      {}, output_);
  ASSERT_TRUE(AwaitOutput("up\n"));
  child.Stop();
  EXPECT_THAT(Output(), testing::EndsWith("bye\n"));
  EXPECT_EQ(child.Ended(), "exit code 0");
}

TEST_F(ChildProcessTest, StopKillsACommandThatIgnoresSigterm) {
  ChildProcess child("trap '' TERM; echo up; while :; do sleep 0.01; done", {},
                     output_);
  ASSERT_TRUE(AwaitOutput("up\n"));
  child.Stop(milliseconds(1));
  EXPECT_EQ(child.Ended(), "signal 9");
}

TEST_F(ChildProcessTest, TheDestructorEndsTheWholeProcessGroup) {
  pid_t grandchild = 0;
  {
    const ChildProcess child("sleep 1000 & echo $!; wait", {}, output_);
    ASSERT_TRUE(Eventually([&] {
      return static_cast<bool>(std::ifstream(output_) >> grandchild);
    }));
  }
  EXPECT_TRUE(Eventually([&] { return !IsAlive(grandchild); }));
}

TEST_F(ChildProcessTest, ThrowsIfTheOutputCannotBeWritten) {
  EXPECT_THROW(ChildProcess("true", {}, directory_.path() / "no/such"),
               CannotPlay);
}

TEST_F(ChildProcessTest, LastLinesReturnsTheEndOfAFile) {
  const std::string file = directory_.Write("lines", "a\nb\nc\nd");
  EXPECT_EQ(LastLines(file, 2), "c\nd\n");
  EXPECT_EQ(LastLines(file, 9), "a\nb\nc\nd\n");
  EXPECT_EQ(LastLines(directory_.path() / "none", 9), "");
}

}  // namespace
}  // namespace minisched::scenario
