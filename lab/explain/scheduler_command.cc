#include "lab/explain/scheduler_command.h"

#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

#include "lab/explain/errors.h"
#include "lab/scenario/child_process.h"
#include "minisched/base/clock.h"

namespace minisched::explain {
namespace {

// Enables Coscheduling as the flag --coscheduling of earlier steps does.
constexpr char kGroupConfig[] = R"(
clientConnection: {qps: -1}
profiles:
- plugins:
    multiPoint: {enabled: [{name: Coscheduling}]}
    queueSort: {disabled: [{name: PrioritySort}]}
    postFilter: {enabled: [{name: Coscheduling}]}
)";

// Returns true if the program, quoted for a shell, has a flag --config.
bool ReadsConfig(const std::string& program) {
  scenario::ChildProcess help(program + " --help | grep -q -e '--config '", {},
                              "/dev/null");
  std::optional<std::string> ended;
  while (!(ended = help.Ended())) {
    RealClock().SleepFor(std::chrono::milliseconds(1), {});
  }
  return *ended == "exit code 0";
}

}  // namespace

SchedulerCommand DefaultScheduler(bool group, const std::string& config) {
  const auto folder =
      std::filesystem::read_symlink("/proc/self/exe").parent_path();
  std::string best;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    const bool is_step = fnmatch("minisched-[0-9][0-9]", name.c_str(), 0) == 0;
    if (is_step) best = std::max(best, name);
  }
  if (best.empty()) {
    throw CannotTell(folder.string() +
                     " has no scheduler (minisched-NN): build one, or pass a "
                     "command with --scheduler");
  }
  const std::string program = scenario::ShellQuote(folder / best);
  const std::string command =
      "exec " + program + " --record \"$RECORD\" --seed 1";
  if (!config.empty()) return {command, config};
  if (group && ReadsConfig(program)) return {command, kGroupConfig};
  return {command + " --scheduler-name \"$SCHEDULER_NAME\" --kube-api-qps 0" +
          (group ? " --coscheduling" : "")};
}

std::string ToShell(const SchedulerCommand& scheduler,
                    const scenario::RunSettings& settings,
                    const std::string& file) {
  const auto& [command, config] = scheduler;
  if (config.empty()) return command;
  return scenario::WithConfigFlag(
      command, scenario::CompleteSchedulerConfig(config, "--config", settings),
      file);
}

}  // namespace minisched::explain
