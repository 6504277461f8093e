#include "scheduler.h"

#include <chrono>
#include <utility>

#include "minisched/base/log.h"

namespace minisched {
namespace {

constexpr std::chrono::seconds kPeriod{1};

// Returns the field selector of the pods that are not bound, have not ended and
// ask for this scheduler.
std::string PendingPods(const std::string& scheduler_name) {
  return "spec.nodeName=,spec.schedulerName=" + scheduler_name +
         ",status.phase!=Succeeded,status.phase!=Failed";
}

// Returns false for a pod that the API server refuses to bind: one that is
// being deleted or has scheduling gates. No field selector can exclude those.
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
  flags.Add("--seed", &seed, "Seed for random choices");
}

Scheduler::Scheduler(const AppContext& context, const SchedulerOptions& options,
                     Clock& clock)
    : client_(context.client),
      scheduler_name_(context.scheduler_name),
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
      spdlog::error("scheduling round failed, trying again: {}", error.what());
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
  spdlog::debug("{} pending pods, {} nodes", pods.items.size(),
                nodes.items.size());
  for (const auto& pod : pods.items) {
    if (IsSchedulable(*pod)) ScheduleOne(*pod, nodes.items, stop);
  }
}

void Scheduler::ScheduleOne(const Pod& pod, const Nodes& nodes,
                            const std::stop_token& stop) {
  const std::string name = ObjectName(pod.metadata);
  if (nodes.empty()) {
    spdlog::warn(
        "unable to schedule pod {}: no nodes available to schedule pods", name);
    return;
  }
  const std::string host = SelectHost(nodes);
  try {
    Bind(pod, host, stop);
    spdlog::info("bound {} to {}", name, host);
  } catch (const ApiError& error) {
    // The pod may have been deleted, or bound by another scheduler, since it
    // was listed. Otherwise it is in the next round's list.
    spdlog::warn("failed to bind {} to {}: {}", name, host, error.what());
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
  // The uid keeps a newer pod of the same name from being bound.
  binding.metadata.uid = pod.metadata.uid;
  binding.target.kind = "Node";
  binding.target.name = host;
  client_.Bind(binding, stop);
}

}  // namespace minisched
