#include "scheduler.h"

#include <chrono>
#include <thread>
#include <utility>

#include "minisched/base/log.h"

namespace minisched {
namespace {

constexpr std::chrono::seconds kFlushPeriod{1};

tl::unexpected<SchedulingFailure> Failed(Status status,
                                         Diagnosis diagnosis = {}) {
  return tl::unexpected(
      SchedulingFailure{std::move(status), std::move(diagnosis)});
}

// Reports the nodes that PreFilter has excluded, for the trace.
void ReportExcludedNodes(const CycleState& state, const Nodes& all,
                         const std::set<std::string>& left_over,
                         const Status& excluded) {
  if (!state.report().is_read()) return;
  for (const NodeInfo* node : all) {
    const std::string& name = node->node().metadata.name;
    if (!left_over.contains(name)) state.report().Rejected(name, "", excluded);
  }
}

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
  PodAttempt attempt{.info = *info,
                     .state = CycleState({trace_, pod, info->attempts,
                                          framework_.filter_plugins()})};
  const auto host = SchedulePod(attempt.state, pod);
  if (!host) {
    HandleSchedulingFailure(attempt, host.error(), stop);
    return true;
  }
  const Status bound = Bind(pod, *host, stop);
  attempt.state.report().Ran("Bind", "", bound);
  if (!bound.IsSuccess()) {
    HandleSchedulingFailure(attempt, {.status = bound}, stop);
    return true;
  }
  spdlog::info("bound {} to {}", ObjectName(pod.metadata), *host);
  attempt.state.report().Bound();
  trace_.Moved(pod, Place::kBound, {.attempts = info->attempts, .node = *host});
  queue_.Done(pod.metadata.uid);
  recorder_.Eventf(GetReference(pod), {}, "Normal", "Scheduled", "Binding",
                   fmt::format("Successfully assigned {} to {}",
                               ObjectName(pod.metadata), *host));
  return true;
}

bool Scheduler::SkipPodSchedule(const QueuedPodInfo& info) {
  const Pod& pod = *info.pod;
  if (!pod.metadata.deletion_timestamp) return false;
  trace_.Moved(pod, Place::kGone, {.attempts = info.attempts});
  queue_.Done(pod.metadata.uid);
  recorder_.Eventf(GetReference(pod), {}, "Warning", "FailedScheduling",
                   "Scheduling",
                   "skip schedule deleting pod: " + ObjectName(pod.metadata));
  return true;
}

tl::expected<std::string, SchedulingFailure> Scheduler::SchedulePod(
    CycleState& state, const Pod& pod) {
  snapshot_.Update(informers_.Of<Node>().store().List(),
                   informers_.Of<Pod>().store().List());
  if (snapshot_.List().empty()) {
    return Failed({Code::kUnschedulableAndUnresolvable,
                   "no nodes available to schedule pods"});
  }
  Diagnosis diagnosis;
  auto feasible = FindNodesThatFitPod(state, pod, diagnosis);
  if (!feasible) return Failed(feasible.error());
  if (feasible->empty()) {
    std::string message = FitError(snapshot_.List().size(), diagnosis);
    return Failed({Code::kUnschedulable, std::move(message)},
                  std::move(diagnosis));
  }
  std::string host = SelectHost(*feasible);
  state.report().Selected(host);
  return host;
}

tl::expected<Nodes, Status> Scheduler::FindNodesThatFitPod(
    CycleState& state, const Pod& pod, Diagnosis& diagnosis) const {
  PreFilterResult left_over;
  const Status status =
      framework_.RunPreFilterPlugins(state, pod, snapshot_.List(), left_over);
  if (status.IsRejected()) {
    diagnosis.node_to_status.SetAbsentNodesStatus(status);
    diagnosis.pre_filter_message = status.Message();
    return Nodes{};
  }
  if (!status.IsSuccess()) return tl::unexpected(status);
  if (!left_over.node_names) {
    return FindNodesThatPassFilters(state, pod, snapshot_.List(), diagnosis);
  }
  Nodes nodes;
  for (const std::string& name : *left_over.node_names) {
    if (const NodeInfo* node = snapshot_.Get(name)) nodes.push_back(node);
  }
  const Status excluded(Code::kUnschedulableAndUnresolvable,
                        fmt::format("node(s) didn't satisfy plugin(s) [{}]",
                                    fmt::join(left_over.plugins, " ")));
  ReportExcludedNodes(state, snapshot_.List(), *left_over.node_names, excluded);
  diagnosis.node_to_status.SetAbsentNodesStatus(
      excluded, *std::move(left_over.node_names));
  return FindNodesThatPassFilters(state, pod, nodes, diagnosis);
}

tl::expected<Nodes, Status> Scheduler::FindNodesThatPassFilters(
    const CycleState& state, const Pod& pod, const Nodes& nodes,
    Diagnosis& diagnosis) const {
  Nodes feasible;
  for (const NodeInfo* node : nodes) {
    const std::string& name = node->node().metadata.name;
    const Status status = framework_.RunFilterPlugins(state, pod, *node);
    if (status.IsSuccess()) {
      state.report().Fits(name);
      feasible.push_back(node);
    } else if (status.IsRejected()) {
      diagnosis.node_to_status.Set(name, status);
    } else {
      return tl::unexpected(status);
    }
  }
  return feasible;
}

std::string Scheduler::SelectHost(const Nodes& nodes) {
  std::uniform_int_distribution<std::size_t> any(0, nodes.size() - 1);
  return nodes[any(random_)]->node().metadata.name;
}

Status Scheduler::Bind(const Pod& pod, const std::string& host,
                       const std::stop_token& stop) {
  Binding binding;
  binding.metadata.namespace_name = pod.metadata.namespace_name;
  binding.metadata.name = pod.metadata.name;
  // The uid keeps a newer pod of the same name from being bound.
  binding.metadata.uid = pod.metadata.uid;
  binding.target.kind = "Node";
  binding.target.name = host;
  try {
    client_.Bind(binding, stop);
  } catch (const std::exception& error) {
    return {Code::kError, error.what()};
  }
  return {};
}

}  // namespace minisched
