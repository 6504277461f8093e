#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "minisched/base/process.h"

namespace minisched::scenario {

// A shell command that runs in its own process group. The destructor calls
// Stop(). Create the object on the main thread: see Process. Not thread-safe.
class ChildProcess {
 public:
  // Starts the command and appends its stdout and stderr to the file `output`.
  // Throws CannotPlay.
  ChildProcess(const std::string& command,
               const std::map<std::string, std::string>& environment,
               const std::string& output);
  ~ChildProcess();

  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Returns how the command ended, such as "exit code 1" or "signal 9", or
  // nullopt while the command runs.
  std::optional<std::string> Ended();

  // Sends a signal to the group.
  void Signal(int number) const { process_.Signal(number); }

  // Sends SIGTERM to the group, and SIGKILL if the command still runs after
  // `grace`. Blocks until the command has ended.
  void Stop(std::chrono::nanoseconds grace = std::chrono::seconds(10));
  // Sends SIGKILL to the group and blocks until the command has ended.
  void Kill();

 private:
  // Returns true if the command has ended, and then kills the rest of the
  // group.
  bool Reap(bool block);

  Process process_;
  std::optional<int> status_;
};

// Quotes text for a shell.
std::string ShellQuote(const std::string& text);

// Returns the last `count` lines of a file, or "" if the file does not exist.
std::string LastLines(const std::string& file, std::size_t count);

}  // namespace minisched::scenario
