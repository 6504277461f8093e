#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace minisched {

// A program in a process group of its own. The kernel kills the program when
// the thread that started it ends, even after a crash. The destructor kills the
// group. Not thread-safe.
class Process {
 public:
  Process() = default;
  ~Process();

  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Starts the program with its arguments. Returns 0, or an errno. REQUIRES:
  // the first call, and no other thread changes the environment meanwhile.
  //
  // A program without a slash is looked up in the directories of $PATH. The
  // variables of `environment` are added to this process's, or replace them.
  // The standard input is empty, and the other two streams are the open files
  // `output` and `errors`. The program inherits no other files, and no ignored
  // or blocked signals.
  int Start(const std::vector<std::string>& command,
            const std::map<std::string, std::string>& environment, int output,
            int errors);

  pid_t id() const { return pid_; }

  // Returns how the program has ended, as waitpid() does, or nullopt while it
  // runs. With `block`, waits for the end.
  std::optional<int> Status(bool block);

  // Sends a signal to the group.
  void Signal(int number) const;

 private:
  pid_t pid_ = -1;
  std::optional<int> status_;
};

}  // namespace minisched
