#pragma once

#include <optional>
#include <string>

#include "minisched/app/app.h"
#include "minisched/config/leader_election_flags.h"
#include "minisched/config/load.h"

namespace minisched {

// The flags --config and --write-config-to of a scheduler, those of leader
// election if the scheduler has it, and the resulting configuration. Follows
// kube-scheduler's cmd/kube-scheduler/app/options.
//
// With --config, the file sets the scheduler's name and the rate of requests,
// or their defaults if it leaves them out. The flags for these have no effect,
// and cause a warning. The same holds for --kubeconfig if the file has
// clientConnection.kubeconfig. The flags of leader election override the file.
// Without --config, the flags change the default configuration. The Lease then
// has the scheduler's name, so that schedulers with different names don't wait
// for each other.
class ConfigurationFlags {
 public:
  // Adds the flags. The object must outlive app.Run().
  ConfigurationFlags(App& app, SchedulerFeatures features);

  // REQUIRES: the body of App::Run() has begun.
  const KubeSchedulerConfiguration& configuration() const {
    return configuration_;
  }

 private:
  // Loads the configuration, and changes the settings to it. Returns the exit
  // code if the program must end: after --write-config-to, or after errors,
  // which are printed to stderr, each on a line of its own.
  std::optional<int> Load(const std::string& program, AppSettings& settings);
  void LoadFile();
  void LoadDefaults(const AppSettings& settings);
  void ApplyElectionFlags(KubeSchedulerConfiguration& configuration) const;
  void ApplyFile(AppSettings& settings);
  void ApplyFlags(const AppSettings& settings);
  void WarnOfFlag(const std::string& flag, const std::string& field) const;
  void Write() const;

  App& app_;
  const SchedulerFeatures features_;
  std::string file_;
  std::string write_to_;
  LeaderElectionFlags election_flags_;
  KubeSchedulerConfiguration configuration_;
};

}  // namespace minisched
