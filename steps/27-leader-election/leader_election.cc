#include "leader_election.h"

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "minisched/base/log.h"
#include "minisched/leaderelection/leader_elector.h"
#include "minisched/metrics/health_checks.h"

namespace minisched {
namespace {

using Checks = std::vector<HealthChecks::Registration>;

// Adds the checks of kube-scheduler's cmd/kube-scheduler/app/server.go. The
// arguments must outlive the checks.
Checks AddChecks(const AppContext& context, const Scheduler& scheduler,
                 const std::optional<LeaderElector>& elector) {
  using enum HealthChecks::Path;
  const auto fails_if = [](bool failed, const char* reason) {
    return failed ? std::optional<std::string>(reason) : std::nullopt;
  };
  Checks checks;
  if (elector) {
    for (const auto path : {kHealthz, kReadyz}) {
      checks.push_back(context.health.Add(
          path, "leaderElection", [&elector] { return elector->Check(); }));
    }
  }
  checks.push_back(
      context.health.Add(kReadyz, "shutdown", [fails_if, stop = context.stop] {
        return fails_if(stop.stop_requested(), "process is shutting down");
      }));
  checks.push_back(
      context.health.Add(kReadyz, "sched-handler-sync", [fails_if, &scheduler] {
        return fails_if(!scheduler.has_synced(),
                        "handlers are not fully synchronized");
      }));
  return checks;
}

}  // namespace

void RunElected(const AppContext& context, SchedulerOptions options) {
  const KubeSchedulerConfiguration configuration = options.configuration;
  std::optional<LeaderElector> elector;
  if (configuration.leader_election.leader_elect.value_or(false)) {
    elector.emplace(context.client.config(), configuration.leader_election,
                    NewElectionIdentity(),
                    configuration.profiles.at(0).scheduler_name);
    options.is_leader = [&elector] { return elector->IsLeader(); };
  }
  Scheduler scheduler(context, options);
  const Checks checks = AddChecks(context, scheduler, elector);
  if (!elector) return scheduler.Run(context.stop);

  // A replica that stands by has the cluster in its cache, so that it can
  // schedule at once.
  const bool delay = configuration.delay_cache_until_active;
  if (!delay && !scheduler.Start(context.stop)) return;
  const auto lead = [&](const std::stop_token& stop) {
    if (delay && !scheduler.Start(stop)) return true;
    return scheduler.Schedule(stop);
  };
  if (elector->Run(context.stop, lead) == LeaderElector::End::kLost) {
    throw std::runtime_error("Leaderelection lost");
  }
  spdlog::info("requested to terminate, exiting");
}

}  // namespace minisched
