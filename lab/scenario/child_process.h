#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>

namespace minisched::scenario {

// A shell command with all that it starts: a process group of its own, ended
// when this is destroyed, and killed should this program die. To be made on the
// main thread. Not thread-safe.
class ChildProcess {
 public:
  // What it prints, on stdout and stderr, goes to `output`. Throws CannotPlay.
  ChildProcess(const std::string& command,
               const std::map<std::string, std::string>& environment,
               const std::string& output);
  ~ChildProcess();

  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // "exit code 1", "signal 9", once it has ended by itself.
  std::optional<std::string> Ended();

  // Asks it to end (SIGTERM); after a grace period, or with Kill() at once,
  // makes it (SIGKILL). Returns when it has ended.
  void Stop(std::chrono::nanoseconds grace = std::chrono::seconds(10));
  void Kill();

 private:
  bool Reap(bool block);

  pid_t pid_ = -1;
  std::optional<int> status_;
};

// The last lines of a file; "" where there is none.
std::string LastLines(const std::string& file, std::size_t count);

}  // namespace minisched::scenario
