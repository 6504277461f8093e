#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

#include "lab/scenario/cluster.h"
#include "lab/scenario/scenario.h"
#include "lab/scenario/story.h"
#include "minisched/client/rest_config.h"

namespace minisched::scenario {

struct PlayerOptions {
  // Where to play.
  RestConfig config;
  // A kubeconfig that leads there, for the scheduler; empty: $KUBECONFIG, or
  // what there is without it, does.
  std::string kubeconfig;
  // Whose pods they are: replaces `minisched` in the scenario.
  std::string scheduler_name = "minisched";
  // The shell command that starts the scheduler; empty: it runs already.
  std::string scheduler;
  // Where its output goes.
  std::filesystem::path directory;
  // Nodes may be made and changed on any cluster.
  bool any_cluster = false;
};

// Plays scenarios on one cluster, one after the other, and leaves it as it was.
// On the main thread.
class Player {
 public:
  // Throws what Client throws. `story` must outlive it.
  Player(PlayerOptions options, Story& story, const std::stop_token& stop);

  // Throws CannotPlay, and what Client throws; Cancelled where `stop` asks to
  // stop. Cleans up in any case.
  Result Play(const Scenario& scenario, const std::stop_token& stop);

 private:
  void CheckPlayable(const Scenario& scenario) const;

  const PlayerOptions options_;
  Story& story_;
  Cluster cluster_;
};

}  // namespace minisched::scenario
