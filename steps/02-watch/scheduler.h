#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

#include "informers.h"
#include "minisched/api/node.h"
#include "minisched/api/pod.h"
#include "minisched/app/flags.h"
#include "minisched/base/clock.h"
#include "minisched/client/client.h"
#include "scheduling_queue.h"

namespace minisched {

struct SchedulerOptions {
  // Where chance decides, the same seed decides the same. Unset: never the
  // same.
  std::optional<std::uint64_t> seed;

  // Lets the command line set them.
  void AddFlags(Flags& flags);
};

// Gives each pod that waits for this scheduler a node, any node. Not
// thread-safe: Run() is called once.
class Scheduler {
 public:
  // `client` and `clock` must outlive the scheduler.
  Scheduler(Client& client, std::string scheduler_name,
            const SchedulerOptions& options, Clock& clock = RealClock());

  // Schedules until `stop` asks to stop. What goes wrong is logged, and tried
  // again a second or two later.
  void Run(std::stop_token stop);

 private:
  using Nodes = std::vector<std::shared_ptr<const Node>>;

  // Takes the pod whose turn it is, once there is one, and binds it. Returns
  // false when the queue is closed. Throws Cancelled.
  bool ScheduleOne(const std::stop_token& stop);
  std::string SelectHost(const Nodes& nodes);
  void Bind(const Pod& pod, const std::string& host,
            const std::stop_token& stop);
  // Sees to it that the pod is tried again, if it still is to be.
  void HandleSchedulingFailure(QueuedPodInfo info, const std::exception& error);

  Client& client_;
  const std::string scheduler_name_;
  Clock& clock_;
  std::mt19937_64 random_;
  SchedulingQueue queue_;
  Informers informers_;  // last: their handlers use the queue
};

}  // namespace minisched
