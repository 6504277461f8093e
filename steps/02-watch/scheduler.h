#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

#include "event_handlers.h"
#include "minisched/api/node.h"
#include "minisched/api/pod.h"
#include "minisched/app/app.h"
#include "minisched/base/clock.h"
#include "minisched/cli/flags.h"
#include "minisched/client/client.h"
#include "minisched/informer/shared_informer_factory.h"
#include "minisched/trace/attempt_report.h"
#include "minisched/trace/trace.h"
#include "queue/scheduling_queue.h"

namespace minisched {

struct SchedulerOptions {
  // Seed for random choices. Unset: a different one in each run.
  std::optional<std::uint64_t> seed;

  // Registers a flag for each option.
  void AddFlags(Flags& flags);
};

// Binds each pending pod of this scheduler to a random node. Not thread-safe.
// Call Run() once.
//
//   failure_handler.cc  what happens to a pod that could not be scheduled
//   scheduler.cc        Run() and ScheduleOne()
//   wiring.cc           the constructor, which connects the parts
class Scheduler {
 public:
  // What `context` refers to, and `clock`, must outlive the scheduler.
  Scheduler(const AppContext& context, const SchedulerOptions& options,
            Clock& clock = RealClock());

  // Schedules pods until `stop` asks to stop. Logs each pod that fails, and
  // tries the pod again one to two seconds later.
  void Run(std::stop_token stop);

 private:
  using Nodes = std::vector<std::shared_ptr<const Node>>;

  // Pops the next pod, blocking until there is one, and binds it. Returns false
  // once the queue is closed or `stop` asks to stop. Throws Cancelled.
  bool ScheduleOne(const std::stop_token& stop);
  // Returns true if the pod needs no node, and ends its attempt. The API server
  // never binds a pod that is being deleted.
  bool SkipPodSchedule(const QueuedPodInfo& info);
  std::string SelectHost(const Nodes& nodes);
  void Bind(const Pod& pod, const std::string& host,
            const std::stop_token& stop);
  // Requeues the pod unless it is bound or deleted.
  void HandleSchedulingFailure(QueuedPodInfo info, const AttemptReport& report,
                               const std::string& message);

  Client& client_;
  const std::string scheduler_name_;
  Clock& clock_;
  Trace& trace_;
  std::mt19937_64 random_;
  SchedulingQueue queue_;
  Trace::Offer offer_;  // after queue_, which it calls
  EventHandlers event_handlers_;
  SharedInformerFactory informers_;  // last: it calls the event handlers
};

}  // namespace minisched
