#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "lab/scenario/child_process.h"
#include "lab/scenario/scheduler_config.h"
#include "lab/scenario/temporary_directory.h"
#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"
#include "minisched/http/http.h"

namespace minisched::live {

// A scheduler that pages can restart with another configuration, if it has one.
// Create and destroy the object on the main thread, as ChildProcess requires;
// the destructor ends the scheduler.
class ManagedScheduler {
 public:
  using Respond = std::function<void(http::Reply)>;
  // A scheduler that ends sooner has not accepted its configuration.
  static constexpr std::chrono::seconds kTrial{3};

  // Starts the shell command with other variables, and with $SCHEDULER_CONFIG,
  // the path of a copy of the file `config`, completed with the settings,
  // unless `config` is "". Throws ConfigError if the file can't be read, and
  // CannotPlay if it is malformed.
  ManagedScheduler(std::string command, const std::string& config,
                   scenario::RunSettings settings,
                   std::map<std::string, std::string> environment,
                   Clock& clock = RealClock());

  ManagedScheduler(const ManagedScheduler&) = delete;
  ManagedScheduler& operator=(const ManagedScheduler&) = delete;

  // Responds to GET with the configuration. Responds to PUT after the trial of
  // the new configuration: with 204, or with 409, the last lines of the log,
  // and the old configuration back. For any thread; does not block.
  void Handle(const http::Request& request, Respond respond) EXCLUDES(mu_);

  // Does what pages have asked for. Call this every moment, on the main thread.
  // Logs an error when the scheduler has ended. Throws std::runtime_error if
  // that happens in the first seconds of the program.
  void Poll() EXCLUDES(mu_);

  // Returns the file of the scheduler's log, which ends with the object.
  std::string log() const { return directory_.path() / "scheduler.log"; }

 private:
  void Start() EXCLUDES(mu_);
  void EndChange(http::Reply reply) EXCLUDES(mu_);

  const std::string command_;
  const scenario::RunSettings settings_;
  std::map<std::string, std::string> environment_;
  Clock& clock_;
  const bool has_config_;
  Mutex mu_;
  std::string config_ GUARDED_BY(mu_);
  std::optional<std::string> asked_ GUARDED_BY(mu_);  // until Poll()
  Respond respond_ GUARDED_BY(mu_);                   // during a change
  const scenario::TemporaryDirectory directory_{"minisched-live"};
  std::optional<scenario::ChildProcess> process_;
  Clock::TimePoint trial_end_;
  std::optional<std::string> before_;  // the old configuration, during a trial
};

}  // namespace minisched::live
