#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "minisched/cli/flags.h"
#include "minisched/config/configuration.h"

namespace minisched {

// The flags --leader-elect and --leader-elect-..., which override the file.
// Follows component-base config/options/leaderelectionconfig.go.
class LeaderElectionFlags {
 public:
  // Adds the flags. The object must outlive flags.Parse().
  void AddTo(Flags& flags);

  // Sets the fields whose flags were given. REQUIRES: AddTo() was called, and
  // the flags were parsed.
  void Apply(LeaderElectionConfiguration& configuration) const;

 private:
  void AddDuration(const std::string& name,
                   std::chrono::nanoseconds LeaderElectionConfiguration::*field,
                   const std::string& help);
  void AddText(const std::string& name,
               std::string LeaderElectionConfiguration::*field,
               const std::string& help);

  Flags* flags_ = nullptr;
  bool leader_elect_ = false;
  LeaderElectionConfiguration values_;
  // The flags, and the field of each.
  std::vector<std::pair<
      std::string, std::chrono::nanoseconds LeaderElectionConfiguration::*>>
      durations_;
  std::vector<
      std::pair<std::string, std::string LeaderElectionConfiguration::*>>
      texts_;
};

}  // namespace minisched
