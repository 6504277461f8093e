#include "lab/scenario/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <fstream>
#include <stop_token>

#include "lab/scenario/errors.h"
#include "minisched/base/clock.h"

namespace minisched::scenario {

ChildProcess::ChildProcess(
    const std::string& command,
    const std::map<std::string, std::string>& environment,
    const std::string& output) {
  const int file =
      open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) throw CannotPlay(output + ": " + std::strerror(errno));
  const int error =
      process_.Start({"sh", "-c", command}, environment, file, file);
  close(file);
  if (error != 0) {
    throw CannotPlay(std::string("failed to start a process: ") +
                     std::strerror(error));
  }
}

ChildProcess::~ChildProcess() { Stop(); }

bool ChildProcess::Reap(bool block) {
  if (status_) return true;
  status_ = process_.Status(block);
  if (!status_) return false;
  process_.Signal(SIGKILL);
  return true;
}

std::optional<std::string> ChildProcess::Ended() {
  if (!Reap(false)) return std::nullopt;
  if (WIFSIGNALED(*status_)) {
    return "signal " + std::to_string(WTERMSIG(*status_));
  }
  return "exit code " + std::to_string(WEXITSTATUS(*status_));
}

void ChildProcess::Stop(std::chrono::nanoseconds grace) {
  if (Reap(false)) return;
  process_.Signal(SIGTERM);
  process_.Signal(SIGCONT);  // a stopped process would not end
  Clock& clock = RealClock();
  const auto deadline = clock.Now() + grace;
  while (!Reap(false) && clock.Now() < deadline) {
    clock.SleepFor(std::chrono::milliseconds(5), std::stop_token());
  }
  Kill();
}

void ChildProcess::Kill() {
  if (Reap(false)) return;
  process_.Signal(SIGKILL);
  Reap(true);
}

std::string ShellQuote(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string LastLines(const std::string& name, std::size_t count) {
  std::ifstream file(name);
  std::deque<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
    if (lines.size() > count) lines.pop_front();
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace minisched::scenario
