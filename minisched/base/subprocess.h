#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace minisched {

// A program to run.
struct Subprocess {
  // The program and its arguments. A program without a slash is looked up in
  // the directories of $PATH.
  std::vector<std::string> command;
  // Environment variables that are added to this process's, or replace them.
  std::map<std::string, std::string> environment = {};
  // How long the program may run, by the real clock.
  std::chrono::milliseconds timeout;
  // How many bytes the program may write to its standard output.
  std::size_t max_output = std::size_t{1} << 20;
};

struct SubprocessResult {
  enum class End {
    kExited,         // `code` is the exit code
    kSignalled,      // `code` is the signal
    kNotStarted,     // `code` is an errno
    kTimedOut,       // killed after the timeout
    kTooMuchOutput,  // killed after max_output
    kStopped         // killed because the stop token asked to stop
  };
  End end;
  int code = 0;
  std::string output = {};  // what the program wrote to its standard output
};

// Runs a program and blocks until it has ended. Thread-safe. REQUIRES: no other
// thread changes the environment meanwhile.
//
// The program's standard input is empty, and its standard error is that of this
// process. The program inherits no other open files, and no ignored or blocked
// signals. It gets its own process group, and is killed together with this
// group. Processes that it leaves behind when it exits keep running, and
// RunSubprocess() does not wait for them.
SubprocessResult RunSubprocess(const Subprocess& program, std::stop_token stop);

}  // namespace minisched
