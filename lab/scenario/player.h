#pragma once

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>

#include "lab/scenario/cluster.h"
#include "lab/scenario/report.h"
#include "lab/scenario/scenario.h"
#include "minisched/client/rest_config.h"

namespace minisched::scenario {

struct PlayerOptions {
  // The cluster to play on.
  RestConfig config;
  // The scheduler's $KUBECONFIG; empty: the scheduler inherits the player's.
  std::string kubeconfig;
  // Replaces the schedulerName `minisched` in the scenario.
  std::string scheduler_name = "minisched";
  // The shell command that starts the scheduler; empty: it is already running.
  std::string scheduler;
  // Leaves out the flags or the configuration that a scenario would append to
  // `scheduler`.
  bool no_flags = false;
  // Appends a scenario's flags, if it has both flags and a configuration.
  bool no_config = false;
  // The URL of the scheduler's metrics, where "$METRICS_PORT" stands for the
  // port in the environment of `scheduler`. Empty: such a scheduler has them at
  // http://127.0.0.1:$METRICS_PORT/metrics.
  std::string metrics_url;
  // How long the scheduler runs on after the scenario, so that its recording
  // shows what came of the last changes.
  std::chrono::seconds linger{0};
  // The directory for the scheduler's output and configuration.
  std::filesystem::path directory;
  // Allows scenarios to create and change nodes on any cluster.
  bool any_cluster = false;
};

// Plays scenarios on one cluster, one after the other, and restores the cluster
// after each. Call it on the main thread.
class Player {
 public:
  // Reads the server's version. Throws what Client throws. `report` must
  // outlive the player.
  Player(PlayerOptions options, TextReport& report,
         const std::stop_token& stop);

  // Plays one scenario and returns its result. Throws CannotPlay, what Client
  // throws, and Cancelled on a stop request. Always cleans up.
  Result Play(const Scenario& scenario, const std::stop_token& stop);

 private:
  // Throws CannotPlay if the cluster or the options lack what the scenario
  // needs.
  void CheckPlayable(const Scenario& scenario) const;

  const PlayerOptions options_;
  TextReport& report_;
  Cluster cluster_;
};

}  // namespace minisched::scenario
