#include "minisched/base/subprocess.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace minisched {
namespace {

using End = SubprocessResult::End;
using namespace std::chrono_literals;

// Longer than the slowest machine needs.
constexpr std::chrono::milliseconds kAmple = 60s;

Subprocess Shell(const std::string& script) {
  return {.command = {"sh", "-c", script}, .timeout = kAmple};
}

SubprocessResult RunShell(const std::string& script) {
  return RunSubprocess(Shell(script), {});
}

// Blocks until the process has ended. Returns false after 20 s.
bool AwaitEndOf(pid_t pid) {
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (std::chrono::steady_clock::now() < deadline) {
    // "PID (NAME) STATE …". An orphan may stay as a zombie for a while.
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    if (!std::getline(stat, line)) return true;
    if (line.find(") Z") != std::string::npos) return true;
    std::this_thread::yield();
  }
  return false;
}

TEST(SubprocessTest, ReturnsTheOutput) {
  const SubprocessResult result = RunShell("printf 'a\\nb'; printf c");
  EXPECT_EQ(result.end, End::kExited);
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.output, "a\nbc");
}

TEST(SubprocessTest, ReturnsALongOutput) {
  const SubprocessResult result =
      RunShell("head -c 1000000 /dev/zero | tr '\\0' x");
  EXPECT_EQ(result.output, std::string(1'000'000, 'x'));
}

TEST(SubprocessTest, PassesArgumentsAndEnvironment) {
  setenv("SUBPROCESS_KEPT", "kept", 1);
  setenv("SUBPROCESS_REPLACED", "old", 1);
  const SubprocessResult result = RunSubprocess(
      {.command = {"sh", "-c",
                   "echo \"$1|$2|$SUBPROCESS_KEPT|$SUBPROCESS_REPLACED|"
                   "$SUBPROCESS_NEW\"",
                   "sh", "a b", "$c"},
       .environment = {{"SUBPROCESS_NEW", "x=y"},
                       {"SUBPROCESS_REPLACED", "new"}},
       .timeout = kAmple},
      {});
  EXPECT_EQ(result.output, "a b|$c|kept|new|x=y\n");
}

TEST(SubprocessTest, ReturnsTheExitCode) {
  const SubprocessResult result = RunShell("echo partial; exit 3");
  EXPECT_EQ(result.end, End::kExited);
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.output, "partial\n");
}

TEST(SubprocessTest, ReturnsTheSignal) {
  const SubprocessResult result = RunShell("kill -TERM $$");
  EXPECT_EQ(result.end, End::kSignalled);
  EXPECT_EQ(result.code, SIGTERM);
}

TEST(SubprocessTest, ReportsThatAProgramDoesNotStart) {
  const auto error_of = [](const std::string& program) {
    const SubprocessResult result =
        RunSubprocess({.command = {program}, .timeout = kAmple}, {});
    EXPECT_EQ(result.end, End::kNotStarted) << program;
    return result.code;
  };
  EXPECT_EQ(error_of("no-such-program"), ENOENT);
  EXPECT_EQ(error_of("/no/such/program"), ENOENT);
  EXPECT_EQ(error_of("/etc/passwd"), EACCES);
}

TEST(SubprocessTest, TheInputIsEmpty) {
  EXPECT_EQ(RunShell("cat; echo end").output, "end\n");
}

TEST(SubprocessTest, StandardErrorIsThisProcesss) {
  testing::internal::CaptureStderr();
  const SubprocessResult result = RunShell("echo problem >&2");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "problem\n");
  EXPECT_EQ(result.output, "");
}

TEST(SubprocessTest, InheritsNoOtherFiles) {
  const int file = open("/dev/null", O_RDONLY);
  const std::string path = "/proc/$$/fd/" + std::to_string(file);
  EXPECT_EQ(RunShell("test -e " + path + " && echo open").output, "");
  close(file);
}

TEST(SubprocessTest, InheritsNoIgnoredAndNoBlockedSignals) {
  const auto before = signal(SIGUSR1, SIG_IGN);
  sigset_t blocked;
  sigset_t mask_before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &blocked, &mask_before);
  EXPECT_EQ(RunShell("kill -USR1 $$").code, SIGUSR1);
  EXPECT_EQ(RunShell("kill -USR2 $$").code, SIGUSR2);
  pthread_sigmask(SIG_SETMASK, &mask_before, nullptr);
  signal(SIGUSR1, before);
}

TEST(SubprocessTest, KillsAProgramAfterItsTimeout) {
  Subprocess program = Shell("sleep 1000");
  program.timeout = 10ms;
  EXPECT_EQ(RunSubprocess(program, {}).end, End::kTimedOut);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a zombie is left";
}

TEST(SubprocessTest, KillsTheWholeGroup) {
  Subprocess program = Shell("sleep 1000 & echo $!; wait");
  program.max_output = 1;
  const SubprocessResult result = RunSubprocess(program, {});
  EXPECT_EQ(result.end, End::kTooMuchOutput);
  EXPECT_TRUE(AwaitEndOf(std::stoi(result.output)));
}

TEST(SubprocessTest, KillsAProgramThatWritesWithoutEnd) {
  const SubprocessResult result = RunShell("yes");
  EXPECT_EQ(result.end, End::kTooMuchOutput);
}

TEST(SubprocessTest, KillsAProgramWhenTheTokenAsksToStop) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(RunSubprocess(Shell("sleep 1000"), stop.get_token()).end,
            End::kStopped);

  std::string fifo = testing::TempDir() + "subprocess_test." +
                     std::to_string(getpid()) + ".fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::stop_source later;
  std::jthread stopper([&] {
    std::ifstream started(fifo);  // blocks until the program writes
    later.request_stop();
  });
  EXPECT_EQ(
      RunSubprocess(Shell("echo >" + fifo + "; sleep 1000"), later.get_token())
          .end,
      End::kStopped);
  unlink(fifo.c_str());
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a zombie is left";
}

TEST(SubprocessTest, DoesNotWaitForProcessesThatAreLeftBehind) {
  // The one left behind has the output open.
  const SubprocessResult result = RunShell("sleep 1000 & echo $!");
  EXPECT_EQ(result.end, End::kExited);
  EXPECT_EQ(result.code, 0);
  const pid_t left = std::stoi(result.output);
  EXPECT_EQ(kill(left, SIGKILL), 0) << "not left alone";
  EXPECT_TRUE(AwaitEndOf(left));
}

TEST(SubprocessTest, RunsProgramsOnManyThreads) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
      const std::string text = std::to_string(i);
      EXPECT_EQ(RunShell("echo " + text).output, text + "\n");
    });
  }
}

}  // namespace
}  // namespace minisched
