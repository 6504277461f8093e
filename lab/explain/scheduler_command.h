#pragma once

#include <string>

#include "lab/scenario/scheduler_config.h"

namespace minisched::explain {

// How to start a scheduler.
struct SchedulerCommand {
  std::string command;  // a shell command
  // A KubeSchedulerConfiguration; "": the command gets no --config.
  std::string config = {};
};

// Returns how to start the `minisched-NN` with the highest number beside this
// program: with this configuration or, if it is "", with the plugin
// Coscheduling for a pod in a `group`. Throws CannotTell if there is no such
// program.
SchedulerCommand DefaultScheduler(bool group, const std::string& config);

// Returns the shell command. If there is a configuration, completes it, writes
// it to `file`, and adds the flag --config. Throws CannotPlay.
std::string ToShell(const SchedulerCommand& scheduler,
                    const scenario::RunSettings& settings,
                    const std::string& file);

}  // namespace minisched::explain
