#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

#include "minisched/api/node.h"
#include "minisched/api/pod.h"
#include "minisched/app/app.h"
#include "minisched/base/clock.h"
#include "minisched/cli/flags.h"
#include "minisched/client/client.h"

namespace minisched {

struct SchedulerOptions {
  // Seed for random choices. Unset: a different one in each run.
  std::optional<std::uint64_t> seed;

  // Registers a flag for each option.
  void AddFlags(Flags& flags);
};

// Binds each pending pod of this scheduler to a random node. Not thread-safe.
// Call Run() once.
class Scheduler {
 public:
  // What `context` refers to, and `clock`, must outlive the scheduler.
  Scheduler(const AppContext& context, const SchedulerOptions& options,
            Clock& clock = RealClock());

  // Schedules pods until `stop` asks to stop. Logs errors and tries again in
  // the next round, a second later.
  void Run(std::stop_token stop);

 private:
  using Nodes = std::vector<std::shared_ptr<const Node>>;

  // One round: schedules every pod that is pending now.
  void SchedulePending(const std::stop_token& stop);
  // Throws TransportError and Cancelled, which end the round.
  void ScheduleOne(const Pod& pod, const Nodes& nodes,
                   const std::stop_token& stop);
  std::string SelectHost(const Nodes& nodes);
  void Bind(const Pod& pod, const std::string& host,
            const std::stop_token& stop);

  Client& client_;
  const std::string scheduler_name_;
  Clock& clock_;
  std::mt19937_64 random_;
};

}  // namespace minisched
