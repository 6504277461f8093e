// minisched-scenario: plays scenarios to judge a scheduler.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <stop_token>
#include <string>
#include <vector>

#include "lab/scenario/embedded.h"
#include "lab/scenario/errors.h"
#include "lab/scenario/player.h"
#include "lab/scenario/report.h"
#include "lab/scenario/scheduler_config.h"
#include "lab/scenario/temporary_directory.h"
#include "minisched/base/printable.h"
#include "minisched/cli/flags.h"
#include "minisched/cli/signals.h"
#include "minisched/client/config_files.h"
#include "minisched/client/kubeconfig.h"

namespace {

using minisched::scenario::Result;
using minisched::scenario::Scenario;
using minisched::scenario::TextReport;

constexpr int kPassed = 0;
constexpr int kFailed = 1;
constexpr int kCouldNotPlay = 2;
constexpr int kInterrupted = 130;

struct Options {
  minisched::ConfigFlags config;
  bool embedded = false;
  bool json = false;
  bool check = false;
  int linger = 0;
  std::string complete;
  minisched::scenario::PlayerOptions player;
  std::vector<std::string> files;
};

Result PlayOne(Options options, const Scenario& scenario, TextReport& report,
               const std::stop_token& stop) {
  const minisched::scenario::TemporaryDirectory directory("minisched-scenario");
  std::optional<minisched::scenario::Embedded> embedded;
  if (options.embedded) {
    embedded.emplace(directory.path(), stop);
    options.config = {.kubeconfig = embedded->kubeconfig()};
  }
  minisched::scenario::PlayerOptions& player = options.player;
  player.directory = directory.path();
  player.config = minisched::LoadRestConfig(options.config);
  player.config.user_agent = "minisched-scenario/" MINISCHED_VERSION;
  player.kubeconfig = options.config.kubeconfig;
  return minisched::scenario::Player(player, report, stop).Play(scenario, stop);
}

// Prints the configuration of --complete.
int Complete(const Options& options) {
  std::cout << minisched::scenario::CompleteSchedulerConfig(
      minisched::ReadFileOrPipe(options.complete, "--complete", {}),
      options.complete,
      {.kubeconfig = options.config.kubeconfig,
       .scheduler_name = options.player.scheduler_name});
  return kPassed;
}

void CheckOptions(const Options& options) {
  if (options.files.empty()) {
    throw minisched::scenario::CannotPlay(
        "no scenario: pass at least one FILE");
  }
  if (options.embedded &&
      (!options.config.kubeconfig.empty() || !options.config.context.empty())) {
    throw minisched::scenario::CannotPlay(
        "--embedded starts its own server: leave out --kubeconfig and "
        "--context");
  }
  // The scheduler would use another cluster than the player.
  if (!options.player.scheduler.empty() && !options.config.context.empty()) {
    throw minisched::scenario::CannotPlay(
        "--context does not reach the scheduler, which reads $KUBECONFIG: "
        "use a kubeconfig whose current context is the one you want");
  }
  if (options.player.scheduler.empty() &&
      options.player.metrics_url.find("$METRICS_PORT") != std::string::npos) {
    throw minisched::scenario::CannotPlay(
        "--metrics: $METRICS_PORT is known only for a scheduler that "
        "--scheduler starts");
  }
}

int PlayAll(const Options& options) {
  const minisched::StopOnSignal signals;
  // Read all files first, so that an invalid file fails before a scenario is
  // played.
  std::vector<Scenario> scenarios;
  for (const std::string& file : options.files) {
    scenarios.push_back(minisched::scenario::ReadScenario(file));
  }
  if (options.check) {
    for (const Scenario& scenario : scenarios) {
      std::cout << ToJsonLine(scenario) << "\n";
    }
    return kPassed;
  }
  if (options.embedded && options.player.scheduler.empty()) {
    throw minisched::scenario::CannotPlay(
        "--embedded starts a server without a scheduler: pass the command that "
        "starts one with --scheduler");
  }
  TextReport report(options.json ? std::cerr : std::cout,
                    isatty(options.json ? STDERR_FILENO : STDOUT_FILENO) != 0 &&
                        std::getenv("NO_COLOR") == nullptr);
  int code = kPassed;
  for (const Scenario& scenario : scenarios) {
    const Result result = PlayOne(options, scenario, report, signals.token());
    if (options.json) {
      std::cout << ToJsonLine(scenario, result) << std::endl;
    }
    if (result.failure) code = kFailed;
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  minisched::Flags flags(
      "Plays scenarios on a cluster and judges the scheduler by them.\n"
      "Exit codes: 0 all passed, 1 a scenario failed, 2 a scenario could not "
      "be played, 130 interrupted.");
  flags.Add("FILE", &options.files,
            "Scenario files, such as testdata/scenarios/*.yaml");
  flags.Add("--kubeconfig", &options.config.kubeconfig,
            "Kubeconfig of the cluster; the default is kubectl's");
  flags.Add("--context", &options.config.context, "Context of the kubeconfig");
  flags.Add("--embedded", &options.embedded,
            "Start an embedded API server for each scenario");
  flags.Add("--scheduler", &options.player.scheduler,
            "Shell command that starts the scheduler for each scenario; the "
            "scheduler finds the cluster through $KUBECONFIG. Without this "
            "flag, the scheduler must already be running");
  flags.Add("--no-flags", &options.player.no_flags,
            "Leave out what a scenario appends to the command of --scheduler, "
            "its flags or --config, for a scheduler that has no such flags");
  flags.Add("--no-config", &options.player.no_config,
            "Append the flags of a scenario instead of --config, for a "
            "scheduler that reads no configuration file");
  flags.Add("--linger", &options.linger,
            "Seconds for which the scheduler of --scheduler runs on after a "
            "scenario, so that its recording shows what came of the last "
            "changes",
            0, 3600);
  flags.AddNonEmpty("--scheduler-name", &options.player.scheduler_name,
                    "schedulerName of the scheduler, passed to its command as "
                    "$SCHEDULER_NAME");
  flags.Add("--metrics", &options.player.metrics_url,
            "URL of the scheduler's metrics. $METRICS_PORT in it stands for a "
            "free port, which the command of --scheduler finds in its "
            "environment; the default of such a scheduler is "
            "http://127.0.0.1:$METRICS_PORT/metrics. The certificate of an "
            "https URL with a loopback address is not verified");
  flags.Add("--any-cluster", &options.player.any_cluster,
            "Allow scenarios to change the nodes of any cluster");
  flags.Add("--json", &options.json,
            "Write one line of JSON per scenario to stdout and the text report "
            "to stderr");
  flags.Add("--check", &options.check,
            "Only read the files, and write what each needs as a line of JSON");
  flags.AddNonEmpty("--complete", &options.complete,
                    "Only print this configuration of a scheduler, completed "
                    "as the one of a scenario: for the cluster of --kubeconfig "
                    "and the name of --scheduler-name");
  if (const auto code = flags.Parse(argc, argv, MINISCHED_VERSION)) {
    return *code;
  }
  options.player.linger = std::chrono::seconds(options.linger);
  try {
    if (!options.complete.empty()) return Complete(options);
    CheckOptions(options);
    return PlayAll(options);
  } catch (const minisched::Cancelled&) {
    std::cerr << "minisched-scenario: interrupted; cleaned up\n";
    return kInterrupted;
  } catch (const std::exception& error) {
    std::cerr << "minisched-scenario: " << minisched::Printable(error.what())
              << "\n";
    return kCouldNotPlay;
  }
}
