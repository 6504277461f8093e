#include "scheduler.h"

#include <chrono>
#include <thread>
#include <utility>

#include "minisched/base/log.h"

namespace minisched {
namespace {

constexpr std::chrono::seconds kFlushPeriod{1};

}  // namespace

void Scheduler::Run(std::stop_token stop) {
  spdlog::info("scheduling the pods of scheduler \"{}\"", scheduler_name_);
  informers_.Start(stop);
  if (!informers_.WaitForCacheSync(stop) ||
      !event_handlers_.WaitForHandlersSync(stop)) {
    return;
  }
  const std::stop_callback close(stop, [this] { queue_.Close(); });
  const std::jthread flush([this](const std::stop_token& done) {
    while (clock_.SleepFor(kFlushPeriod, done)) queue_.FlushUnschedulablePods();
  });
  try {
    while (ScheduleOne(stop)) {
    }
  } catch (const Cancelled&) {
    // `stop` cancelled a request.
  }
  informers_.Shutdown();
}

bool Scheduler::ScheduleOne(const std::stop_token& stop) {
  const auto info = trace_.Paced([this] { return queue_.Pop(); }, stop);
  if (!info) return false;
  if (SkipPodSchedule(*info)) return true;
  const Pod& pod = *info->pod;
  const AttemptReport report(trace_, pod, info->attempts);
  const Nodes nodes = informers_.Of<Node>().store().List();
  if (nodes.empty()) {
    HandleSchedulingFailure(*info, report,
                            "no nodes available to schedule pods");
    return true;
  }
  for (const auto& node : nodes) report.Fits(node->metadata.name);
  const std::string host = SelectHost(nodes);
  report.Selected(host);
  try {
    Bind(pod, host, stop);
  } catch (const std::exception& error) {
    HandleSchedulingFailure(*info, report, error.what());
    return true;
  }
  spdlog::info("bound {} to {}", ObjectName(pod.metadata), host);
  trace_.Moved(pod, Place::kBound, {.attempts = info->attempts, .node = host});
  queue_.Done(pod.metadata.uid);
  return true;
}

bool Scheduler::SkipPodSchedule(const QueuedPodInfo& info) {
  const Pod& pod = *info.pod;
  if (!pod.metadata.deletion_timestamp) return false;
  trace_.Moved(pod, Place::kGone, {.attempts = info.attempts});
  queue_.Done(pod.metadata.uid);
  return true;
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
