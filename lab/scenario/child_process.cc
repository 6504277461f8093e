#include "lab/scenario/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <fstream>
#include <stop_token>
#include <utility>
#include <vector>

#include "lab/scenario/errors.h"
#include "minisched/base/clock.h"

namespace minisched::scenario {
namespace {

// Returns this process's environment with the variables of `set` added or
// replaced.
std::vector<std::string> Environment(
    const std::map<std::string, std::string>& set) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    if (!set.contains(text.substr(0, text.find('=')))) all.push_back(text);
  }
  for (const auto& [name, value] : set) all.push_back(name + "=" + value);
  return all;
}

// Runs in the child after fork(), where only async-signal-safe calls are
// allowed.
[[noreturn]] void Exec(const char* const* arguments,
                       const char* const* environment, int output) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execve("/bin/sh", const_cast<char* const*>(arguments),
         const_cast<char* const*>(environment));
  _exit(127);
}

}  // namespace

ChildProcess::ChildProcess(
    const std::string& command,
    const std::map<std::string, std::string>& environment,
    const std::string& output) {
  const int file =
      open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) throw CannotPlay(output + ": " + std::strerror(errno));
  const std::vector<std::string> strings = Environment(environment);
  std::vector<const char*> variables;
  for (const std::string& variable : strings) {
    variables.push_back(variable.c_str());
  }
  variables.push_back(nullptr);
  const char* const arguments[] = {"sh", "-c", command.c_str(), nullptr};
  pid_ = fork();
  if (pid_ == 0) Exec(arguments, variables.data(), file);
  close(file);
  if (pid_ < 0) {
    throw CannotPlay(std::string("failed to start a process: ") +
                     std::strerror(errno));
  }
  // The child also does this, because either process may run first.
  setpgid(pid_, pid_);
}

ChildProcess::~ChildProcess() { Stop(); }

bool ChildProcess::Reap(bool block) {
  if (status_) return true;
  int status = 0;
  pid_t done = 0;
  do {
    done = waitpid(pid_, &status, block ? 0 : WNOHANG);
  } while (done < 0 && errno == EINTR);
  if (done != pid_) return false;
  status_ = status;
  kill(-pid_, SIGKILL);
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
  kill(-pid_, SIGTERM);
  Clock& clock = RealClock();
  const auto deadline = clock.Now() + grace;
  while (!Reap(false) && clock.Now() < deadline) {
    clock.SleepFor(std::chrono::milliseconds(5), std::stop_token());
  }
  Kill();
}

void ChildProcess::Kill() {
  if (Reap(false)) return;
  kill(-pid_, SIGKILL);
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
