#include "scheduler.h"

#include <chrono>
#include <utility>

#include "minisched/app/logging.h"

namespace minisched {
namespace {

constexpr std::chrono::seconds kPeriod{1};

// The field selector of the pods that nobody has bound yet and that ask for
// this scheduler. Pods that have run already are none of our business.
std::string PendingPods(const std::string& scheduler_name) {
  return "spec.nodeName=,spec.schedulerName=" + scheduler_name +
         ",status.phase!=Succeeded,status.phase!=Failed";
}

// What no field selector can say: the API server would refuse to bind a pod
// that is being deleted, or that has gates left to open.
bool IsSchedulable(const Pod& pod) {
  return !pod.metadata.deletion_timestamp && pod.spec.scheduling_gates.empty();
}

template <class T>
void LogMalformed(const ObjectList<T>& list) {
  for (const MalformedObject& object : list.malformed) {
    spdlog::warn("ignoring {} {}: {}", T::kResource.kind, ObjectName(object),
                 object.error);
  }
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
      random_(options.seed ? *options.seed : std::random_device{}()) {}

void Scheduler::Run(std::stop_token stop) {
  spdlog::info("scheduling the pods of scheduler \"{}\"", scheduler_name_);
  do {
    try {
      SchedulePending(stop);
    } catch (const Cancelled&) {
      return;
    } catch (const std::exception& error) {
      spdlog::error("this round failed, trying again: {}", error.what());
    }
  } while (clock_.SleepFor(kPeriod, stop));
}

void Scheduler::SchedulePending(const std::stop_token& stop) {
  const auto pods =
      client_.List<Pod>({.field_selector = PendingPods(scheduler_name_)}, stop);
  LogMalformed(pods);
  if (pods.items.empty()) return;
  const auto nodes = client_.List<Node>({}, stop);
  LogMalformed(nodes);
  spdlog::debug("{} pods wait, {} nodes are there", pods.items.size(),
                nodes.items.size());
  for (const auto& pod : pods.items) {
    if (IsSchedulable(*pod)) ScheduleOne(*pod, nodes.items, stop);
  }
}

void Scheduler::ScheduleOne(const Pod& pod, const Nodes& nodes,
                            const std::stop_token& stop) {
  const std::string name = ObjectName(pod.metadata);
  if (nodes.empty()) {
    spdlog::warn("no nodes available to schedule pods: {} waits", name);
    return;
  }
  const std::string host = SelectHost(nodes);
  try {
    Bind(pod, host, stop);
    spdlog::info("bound {} to {}", name, host);
  } catch (const ApiError& error) {
    // Gone, or bound by someone else since we listed it: not ours any more.
    // Whatever else it is, the pod is still there in the next round.
    spdlog::warn("could not bind {} to {}: {}", name, host, error.what());
  }
}

std::string Scheduler::SelectHost(const Nodes& nodes) {
  std::uniform_int_distribution<std::size_t> any(0, nodes.size() - 1);
  return nodes[any(random_)]->metadata.name;
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
