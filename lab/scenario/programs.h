#pragma once

#include <filesystem>
#include <list>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "lab/scenario/child_process.h"
#include "lab/scenario/reserved_port.h"
#include "lab/scenario/scenario.h"

namespace minisched::scenario {

// The programs of a scenario, such as extenders, which run beside the
// scheduler. The destructor stops them. Not thread-safe.
class Programs {
 public:
  // Starts no program yet. With `free_ports`, each program gets a free port
  // instead of the one in the scenario, so that several players don't disturb
  // each other. The programs' output goes to files in `directory`. Throws
  // CannotPlay. `scenario` must outlive the object.
  Programs(const Scenario& scenario, const std::filesystem::path& directory,
           bool free_ports);

  // Returns the port of each program by its port in the scenario.
  std::map<int, int> ports() const;

  // Starts a program unless it runs, and blocks until it accepts connections.
  // Throws CannotPlay if it exits before, or takes too long, and Cancelled.
  void Start(std::string_view name, const std::stop_token& stop);
  // Stops a program if it runs.
  void Stop(std::string_view name);

  // Throws CannotPlay if a program that was started has exited by itself.
  void Check();

  // Returns the last lines of the output of each program that has written any,
  // by name.
  std::map<std::string, std::string> Logs() const;

 private:
  struct One {
    One(const Program& program, const std::filesystem::path& directory,
        bool free_port);

    const Program& program;
    std::optional<ReservedPort> reserved;
    int port;
    std::string log;  // the file of the output
    std::optional<ChildProcess> process = {};
  };
  One& Find(std::string_view name);
  // Throws CannotPlay if the program has exited. `when` completes the message.
  static void Check(One& one, const std::string& when);

  const std::string directory_;  // of the scenario's file
  std::list<One> programs_;
};

}  // namespace minisched::scenario
