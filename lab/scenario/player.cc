#include "lab/scenario/player.h"

#include <utility>

#include "lab/scenario/errors.h"
#include "lab/scenario/scenario_run.h"

namespace minisched::scenario {

Player::Player(PlayerOptions options, TextReport& report,
               const std::stop_token& stop)
    : options_(std::move(options)),
      report_(report),
      cluster_(options_.config, stop) {}

void Player::CheckPlayable(const Scenario& scenario) const {
  if (scenario.needs_embedded && !cluster_.IsEmbedded()) {
    throw CannotPlay(scenario.file +
                     ": it injects faults, counts requests or has a server "
                     "step, which needs the embedded server: play it with "
                     "--embedded");
  }
  if (!scenario.nodes.empty() && !cluster_.IsTestCluster() &&
      !options_.any_cluster) {
    throw CannotPlay(scenario.file + ": it changes nodes, and " +
                     cluster_.client_config().server +
                     " is not a test cluster: use --embedded, or --any-cluster "
                     "to change its nodes");
  }
  if (scenario.needs_scheduler && options_.scheduler.empty()) {
    throw CannotPlay(scenario.file +
                     ": it stops and starts the scheduler: pass the "
                     "scheduler's command with --scheduler");
  }
  if (scenario.needs_metrics && options_.metrics_url.empty() &&
      options_.scheduler.empty()) {
    throw CannotPlay(scenario.file +
                     ": it reads the scheduler's metrics: pass their URL with "
                     "--metrics, or the scheduler's command with --scheduler");
  }
}

Result Player::Play(const Scenario& scenario, const std::stop_token& stop) {
  CheckPlayable(scenario);
  report_.Begin(scenario);
  const auto start = RealClock().Now();
  Result result;
  ScenarioRun run(options_, report_, cluster_, scenario, stop);
  try {
    run.Play();
  } catch (Failed& failed) {
    result.failure = std::move(failed.failure);
    result.failure->program_logs = run.ProgramLogs();
  } catch (...) {
    run.CleanUp();
    throw;
  }
  result.took = RealClock().Now() - start;
  RealClock().SleepFor(options_.linger, stop);
  run.CleanUp();
  report_.End(result);
  return result;
}

}  // namespace minisched::scenario
