#include "scheduler.h"

#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

#include "event_handlers.h"
#include "minisched/app/logging.h"
#include "unsupported.h"

namespace minisched {
namespace {

constexpr std::chrono::seconds kFlushPeriod{1};

// The API server would refuse to bind it, and it won't change its mind.
bool SkipPodSchedule(const Pod& pod) {
  return pod.metadata.deletion_timestamp.has_value();
}

}  // namespace

void SchedulerOptions::AddFlags(Flags& flags) {
  flags.Add("--seed", &seed, "Repeat the chances of an earlier run");
}

Scheduler::Scheduler(Client& client, std::string scheduler_name,
                     const SchedulerOptions& options, Clock& clock)
    : client_(client),
      scheduler_name_(std::move(scheduler_name)),
      clock_(clock),
      random_(options.seed ? *options.seed : std::random_device{}()),
      event_client_(client.config(), clock),
      recorder_(event_client_, scheduler_name_, clock),
      framework_(snapshot_),
      queue_(clock),
      informers_(client, clock) {}

void Scheduler::Run(std::stop_token stop) {
  spdlog::info("scheduling the pods of scheduler \"{}\"", scheduler_name_);
  const HandlerRegistration handlers =
      AddAllEventHandlers(informers_, queue_, scheduler_name_);
  informers_.Start(stop);
  if (!informers_.WaitForCacheSync(stop) || !handlers.WaitForSync(stop)) return;

  const std::stop_callback close(stop, [this] { queue_.Close(); });
  const std::jthread flush([this](const std::stop_token& done) {
    while (clock_.SleepFor(kFlushPeriod, done)) queue_.FlushUnschedulablePods();
  });
  try {
    while (ScheduleOne(stop)) {
    }
  } catch (const Cancelled&) {
    // As asked to.
  }
}

bool Scheduler::ScheduleOne(const std::stop_token& stop) {
  const std::optional<QueuedPodInfo> info = queue_.Pop();
  if (!info) return false;
  const Pod& pod = *info->pod;
  if (SkipPodSchedule(pod)) {
    queue_.Done(pod.metadata.uid);
    recorder_.Eventf(GetReference(pod), {}, "Warning", "FailedScheduling",
                     "Scheduling",
                     "skip schedule deleting pod: " + ObjectName(pod.metadata));
    return true;
  }
  std::string host;
  try {
    CycleState state;
    host = SchedulePod(state, pod);
    Bind(pod, host, stop);
  } catch (const Cancelled&) {
    throw;
  } catch (const std::exception& error) {
    HandleSchedulingFailure(*info, error, stop);
    return true;
  }
  spdlog::info("bound {} to {}", ObjectName(pod.metadata), host);
  queue_.Done(pod.metadata.uid);
  recorder_.Eventf(GetReference(pod), {}, "Normal", "Scheduled", "Binding",
                   fmt::format("Successfully assigned {} to {}",
                               ObjectName(pod.metadata), host));
  return true;
}

std::string Scheduler::SchedulePod(CycleState& state, const Pod& pod) {
  snapshot_.Update(informers_.nodes.store().List());
  if (snapshot_.List().empty()) {
    throw Unschedulable("no nodes available to schedule pods");
  }
  const std::string unsupported = FindUnsupported(pod);
  if (!unsupported.empty()) {
    throw std::runtime_error("this scheduler does not know yet about " +
                             unsupported);
  }
  Diagnosis diagnosis;
  const Nodes feasible = FindNodesThatFitPod(state, pod, diagnosis);
  if (feasible.empty()) {
    throw FitError(snapshot_.List().size(), std::move(diagnosis));
  }
  return SelectHost(feasible);
}

Nodes Scheduler::FindNodesThatFitPod(CycleState& state, const Pod& pod,
                                     Diagnosis& diagnosis) const {
  Nodes feasible;
  for (const NodeInfo* node : snapshot_.List()) {
    const Status status = framework_.RunFilterPlugins(state, pod, *node);
    if (status.IsSuccess()) {
      feasible.push_back(node);
    } else if (status.IsRejected()) {
      diagnosis.node_to_status[node->node().metadata.name] = status;
    } else {
      throw std::runtime_error(status.Message());
    }
  }
  return feasible;
}

std::string Scheduler::SelectHost(const Nodes& nodes) {
  std::uniform_int_distribution<std::size_t> any(0, nodes.size() - 1);
  return nodes[any(random_)]->node().metadata.name;
}

void Scheduler::Bind(const Pod& pod, const std::string& host,
                     const std::stop_token& stop) {
  Binding binding;
  binding.metadata.namespace_name = pod.metadata.namespace_name;
  binding.metadata.name = pod.metadata.name;
  // This pod, not one of the same name that was created since.
  binding.metadata.uid = pod.metadata.uid;
  binding.target.kind = "Node";
  binding.target.name = host;
  client_.Bind(binding, stop);
}

}  // namespace minisched
