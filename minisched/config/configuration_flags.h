#pragma once

#include <optional>
#include <string>

#include "minisched/app/app.h"
#include "minisched/config/load.h"

namespace minisched {

// The flags --config and --write-config-to of a scheduler, and the
// configuration that they lead to. Follows kube-scheduler's
// cmd/kube-scheduler/app/options.
//
// With --config, the file sets the scheduler's name and the rate of requests,
// even by fields that it leaves out. A flag beside it that sets the same has no
// effect, and causes a warning. --kubeconfig counts unless the file has
// clientConnection.kubeconfig. Without --config, the flags change the default
// configuration.
class ConfigurationFlags {
 public:
  // Adds the flags. `app` must not run longer than the object lives.
  ConfigurationFlags(App& app, SchedulerFeatures features);

  // REQUIRES: the body of App::Run() has begun.
  const KubeSchedulerConfiguration& configuration() const {
    return configuration_;
  }

 private:
  // Prints the errors of the configuration, each on a line of its own.
  std::optional<int> Load(const std::string& program, AppSettings& settings);
  void ApplyFile(AppSettings& settings);
  void ApplyFlags(const AppSettings& settings);
  void WarnOfFlag(const std::string& flag, const std::string& field) const;
  void Write() const;

  App& app_;
  const SchedulerFeatures features_;
  std::string file_;
  std::string write_to_;
  KubeSchedulerConfiguration configuration_;
};

}  // namespace minisched
