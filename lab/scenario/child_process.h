#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>

namespace minisched::scenario {

// A shell command that runs in its own process group. The destructor ends the
// group, and the kernel kills the command if this program dies. Create it on
// the main thread. Not thread-safe.
class ChildProcess {
 public:
  // Appends stdout and stderr to the file `output`. Throws CannotPlay.
  ChildProcess(const std::string& command,
               const std::map<std::string, std::string>& environment,
               const std::string& output);
  ~ChildProcess();

  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Returns "exit code 1" or "signal 9" once the command has ended.
  std::optional<std::string> Ended();

  // Sends SIGTERM, then SIGKILL if the command still runs after `grace`. Kill()
  // sends SIGKILL at once. Both return when the command has ended.
  void Stop(std::chrono::nanoseconds grace = std::chrono::seconds(10));
  void Kill();

 private:
  bool Reap(bool block);

  pid_t pid_ = -1;
  std::optional<int> status_;
};

// Returns the last `count` lines of a file, or "" if the file does not exist.
std::string LastLines(const std::string& file, std::size_t count);

}  // namespace minisched::scenario
