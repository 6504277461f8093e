#include "scheduler.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include "minisched/base/log.h"

namespace minisched {
namespace {

// How long Run() waits for Bindings when it has to stop.
constexpr std::chrono::seconds kBindingDeadline{5};
// A search stops only when it has found this many feasible nodes, or has
// checked all nodes.
constexpr std::size_t kMinFeasibleNodesToFind = 100;
constexpr std::ptrdiff_t kMinFeasibleNodesPercentageToFind = 5;

tl::unexpected<SchedulingFailure> Failed(Status status,
                                         Diagnosis diagnosis = {}) {
  return tl::unexpected(
      SchedulingFailure{std::move(status), std::move(diagnosis)});
}

// Returns how many feasible nodes are enough. A percentage of 0 stands for one
// that depends on the number of nodes: all of 100 nodes, half of 200, and 5% of
// 5,625 or more.
std::size_t NumFeasibleNodesToFind(std::size_t num_all_nodes,
                                   std::size_t percentage) {
  if (num_all_nodes < kMinFeasibleNodesToFind) return num_all_nodes;
  if (percentage == 0) {
    percentage = std::max(50 - static_cast<std::ptrdiff_t>(num_all_nodes / 125),
                          kMinFeasibleNodesPercentageToFind);
  }
  return std::max(num_all_nodes * percentage / 100, kMinFeasibleNodesToFind);
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
  if (Start(stop)) Schedule(stop);
}

bool Scheduler::Start(std::stop_token stop) {
  for (const auto& [name, profile] : profiles_) {
    spdlog::info("scheduling the pods of scheduler \"{}\"", name);
  }
  informers_.Start(stop);
  if (!informers_.WaitForCacheSync(stop) ||
      !event_handlers_.WaitForHandlersSync(stop)) {
    return false;
  }
  has_synced_ = true;
  return true;
}

bool Scheduler::Schedule(const std::stop_token& stop) {
  const std::stop_callback close(stop, [this] {
    queue_.Close();
    extender_calls_.request_stop();
    CheckLeader();
  });
  const std::jthread flush(
      [this](const std::stop_token& done) { queue_.Run(done); });
  try {
    while (ScheduleOne(stop)) {
    }
  } catch (const Cancelled&) {
    // `stop` cancelled the PATCH of a failed pod, or the call of an extender.
  }
  informers_.Shutdown();
  // Ends the waits, so that only Bindings remain. The next scheduler tries the
  // pods again.
  waiting_pods_.Clear();
  if (!binding_cycles_.WaitUntil(clock_, clock_.Now() + kBindingDeadline)) {
    // The destructor cancels them.
    spdlog::warn("cancelling the Bindings that are still under way");
    return false;
  }
  return !requests_.stop_requested();
}

bool Scheduler::CheckLeader() {
  if (!requests_.stop_requested() && is_leader_()) return true;
  requests_.request_stop();
  return false;
}

const Profile& Scheduler::ProfileForPod(const Pod& pod) const {
  return profiles_.at(pod.spec.scheduler_name);
}

bool Scheduler::ScheduleOne(const std::stop_token& stop) {
  const auto info = trace_.Paced([this] { return queue_.Pop(); }, stop);
  if (!info || !CheckLeader()) return false;
  if (SkipPodSchedule(*info)) return true;
  const Framework& framework = ProfileForPod(*info->pod).framework;
  PodAttempt attempt{.under_way = binding_cycles_.Begin(),
                     .info = *info,
                     .state = CycleState({trace_, *info->pod, info->attempts,
                                          framework.filter_plugins()}),
                     .start = clock_.Now()};
  const auto scheduled = SchedulingCycle(attempt);
  if (!scheduled) {
    HandleSchedulingFailure(attempt, scheduled.error(), stop);
    return true;
  }
  // Binds the pod: see binding_cycle.cc. Start() returns when the task has to
  // wait. The rest runs on other threads.
  RunBindingCycle(std::move(attempt)).Start();
  return true;
}

bool Scheduler::SkipPodSchedule(const QueuedPodInfo& info) {
  const Pod& pod = *info.pod;
  if (!pod.metadata.deletion_timestamp) return SkipAssumedPod(info);
  trace_.Moved(pod, Place::kGone, {.attempts = info.attempts});
  queue_.Done(pod.metadata.uid);
  ProfileForPod(pod).recorder->Eventf(
      GetReference(pod), {}, "Warning", "FailedScheduling", "Scheduling",
      "skip schedule deleting pod: " + ObjectName(pod.metadata));
  return true;
}

bool Scheduler::SkipAssumedPod(const QueuedPodInfo& info) {
  const Pod& pod = *info.pod;
  if (!cache_.IsAssumedPod(pod)) return false;
  // How a pod gets here:
  // 1. An event handler found that the pod was not assumed.
  // 2. The pod was assumed, and its attempt called Done().
  // 3. The event handler queued the pod.
  // The trace shows the pod as bound, although its Binding may be under way.
  trace_.Moved(pod, Place::kBound, {.attempts = info.attempts});
  queue_.Done(pod.metadata.uid);
  // If the Binding has failed since the check, the pod may not have been
  // requeued, because it was in flight again.
  if (!cache_.IsAssumedPod(pod)) queue_.AddUnschedulableIfNotPresent(info);
  return true;
}

tl::expected<void, SchedulingFailure> Scheduler::SchedulingCycle(
    PodAttempt& attempt) {
  const Pod& pod = *attempt.info.pod;
  auto host = SchedulePod(attempt.state, pod);
  if (!host) {
    RunPostFilter(attempt.state, pod, host.error());
    return tl::unexpected(host.error());
  }
  attempt.host = *std::move(host);
  return PrepareForBindingCycle(attempt);
}

tl::expected<std::string, SchedulingFailure> Scheduler::SchedulePod(
    CycleState& state, const Pod& pod) {
  cache_.UpdateSnapshot(snapshot_);
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
  std::vector<PluginNodeScores> scores;
  if (feasible->size() > 1) {
    auto prioritized = PrioritizeNodes(state, pod, *feasible);
    if (!prioritized) return Failed(prioritized.error());
    scores = *std::move(prioritized);
  }
  std::string host = SelectHost(*feasible, scores);
  state.report().Selected(host);
  return host;
}

tl::expected<Nodes, Status> Scheduler::FindNodesThatFitPod(
    CycleState& state, const Pod& pod, Diagnosis& diagnosis) {
  PreFilterResult left_over;
  const Status status = ProfileForPod(pod).framework.RunPreFilterPlugins(
      state, pod, snapshot_.List(), left_over);
  diagnosis.unschedulable_plugins = left_over.plugins;
  if (status.IsRejected()) {
    diagnosis.node_to_status.SetAbsentNodesStatus(status);
    diagnosis.pre_filter_message = status.Message();
    diagnosis.AddPluginStatus(status);
    return Nodes{};
  }
  if (!status.IsSuccess()) return tl::unexpected(status);
  Nodes nominated = EvaluateNominatedNode(state, pod, diagnosis);
  if (!nominated.empty()) return nominated;
  if (!left_over.node_names) {
    return ContinueSearch(state, pod, snapshot_.List(), diagnosis);
  }
  Nodes nodes;
  for (const std::string& name : *left_over.node_names) {
    if (const NodeInfo* node = snapshot_.Get(name)) nodes.push_back(node);
  }
  // As upstream, also names the plugin that rejected the nominated node.
  const Status excluded(
      Code::kUnschedulableAndUnresolvable,
      fmt::format("node(s) didn't satisfy plugin(s) [{}]",
                  fmt::join(diagnosis.unschedulable_plugins, " ")));
  ReportExcludedNodes(state, snapshot_.List(), *left_over.node_names, excluded);
  diagnosis.node_to_status.SetAbsentNodesStatus(
      excluded, *std::move(left_over.node_names));
  return ContinueSearch(state, pod, nodes, diagnosis);
}

tl::expected<Nodes, Status> Scheduler::ContinueSearch(const CycleState& state,
                                                      const Pod& pod,
                                                      const Nodes& nodes,
                                                      Diagnosis& diagnosis) {
  auto feasible = FindNodesThatPassFilters(state, pod, nodes, diagnosis);
  const std::size_t checked =
      (feasible ? feasible->size() : 0) + diagnosis.node_to_status.size();
  next_start_ = (next_start_ + checked) % snapshot_.List().size();
  if (!feasible) return feasible;
  return FindNodesThatPassExtenders(state, pod, *std::move(feasible),
                                    diagnosis);
}

Nodes Scheduler::EvaluateNominatedNode(const CycleState& state, const Pod& pod,
                                       Diagnosis& diagnosis) const {
  const NodeInfo* node = snapshot_.Get(queue_.nominator().NominatedNode(pod));
  if (node == nullptr) return {};
  // Ignores an error: the filters run on all nodes next.
  const auto allow = [&](Nodes nodes) {
    return FindNodesThatPassExtenders(state, pod, std::move(nodes), diagnosis);
  };
  return FindNodesThatPassFilters(state, pod, {node}, diagnosis)
      .and_then(allow)
      .value_or(Nodes{});
}

tl::expected<Nodes, Status> Scheduler::FindNodesThatPassFilters(
    const CycleState& state, const Pod& pod, const Nodes& nodes,
    Diagnosis& diagnosis) const {
  const Profile& profile = ProfileForPod(pod);
  const std::size_t enough = NumFeasibleNodesToFind(
      nodes.size(), profile.percentage_of_nodes_to_score);
  Nodes feasible;
  for (std::size_t i = 0; i < nodes.size() && feasible.size() < enough; ++i) {
    const NodeInfo* node = nodes[(next_start_ + i) % nodes.size()];
    const std::string& name = node->node().metadata.name;
    const Status status = profile.framework.RunFilterPluginsWithNominatedPods(
        state, pod, *node, queue_.nominator().NominatedPodsForNode(name));
    if (status.IsSuccess()) {
      if (extenders_.empty()) state.report().Fits(name);
      feasible.push_back(node);
    } else if (status.IsRejected()) {
      diagnosis.node_to_status.Set(name, status);
      diagnosis.AddPluginStatus(status);
    } else {
      return tl::unexpected(status);
    }
  }
  return feasible;
}

tl::expected<Nodes, Status> Scheduler::FindNodesThatPassExtenders(
    const CycleState& state, const Pod& pod, Nodes nodes,
    Diagnosis& diagnosis) const {
  if (extenders_.empty()) return nodes;
  const std::size_t allowed_by_plugins = nodes.size();
  for (const auto& extender : extenders_) {
    if (nodes.empty()) break;
    if (!extender->is_filter() || !extender->IsInterested(pod)) continue;
    NodeToStatus rejected;
    auto left = extender->Filter(pod, nodes, rejected);
    if (!left) {
      if (!extender->is_ignorable()) return left;
      spdlog::warn("going on without an extender: {}", left.error().Message());
      continue;
    }
    for (const auto& [name, status] : rejected) {
      state.report().Rejected(name, extender->Name(), status);
      diagnosis.node_to_status.Set(name, status);
    }
    nodes = *std::move(left);
  }
  if (nodes.size() < allowed_by_plugins) {
    diagnosis.unschedulable_plugins.insert(kExtenderName);
  }
  for (const NodeInfo* node : nodes) {
    state.report().Fits(node->node().metadata.name);
  }
  return nodes;
}

tl::expected<std::vector<PluginNodeScores>, Status> Scheduler::PrioritizeNodes(
    CycleState& state, const Pod& pod, const Nodes& nodes) const {
  const Status status =
      ProfileForPod(pod).framework.RunPreScorePlugins(state, pod, nodes);
  if (!status.IsSuccess()) return tl::unexpected(status);
  auto scores = ProfileForPod(pod).framework.RunScorePlugins(state, pod, nodes);
  if (scores) AddExtenderScores(state, pod, nodes, *scores);
  return scores;
}

void Scheduler::AddExtenderScores(const CycleState& state, const Pod& pod,
                                  const Nodes& nodes,
                                  std::vector<PluginNodeScores>& scores) const {
  using Prioritized = tl::expected<PluginNodeScores, Status>;
  std::vector<std::future<Prioritized>> calls;  // all at the same time
  for (const auto& extender : extenders_) {
    if (!extender->is_prioritizer() || !extender->IsInterested(pod)) continue;
    calls.push_back(std::async(std::launch::async, &Extender::Prioritize,
                               extender.get(), std::cref(pod),
                               std::cref(nodes)));
  }
  for (auto& call : calls) {
    Prioritized prioritized = call.get();
    if (!prioritized) {
      spdlog::warn("going on without an extender's scores: {}",
                   prioritized.error().Message());
      continue;
    }
    state.report().Scored(prioritized->plugin, prioritized->weight,
                          prioritized->raw, prioritized->normalized);
    scores.push_back(*std::move(prioritized));
  }
}

std::string Scheduler::SelectHost(const Nodes& nodes,
                                  const std::vector<PluginNodeScores>& scores) {
  std::vector<std::int64_t> totals(nodes.size());
  for (const PluginNodeScores& plugin : scores) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      totals[i] += plugin.weight * plugin.normalized[i].score;
    }
  }
  const std::int64_t highest = *std::max_element(totals.begin(), totals.end());
  Nodes best;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (totals[i] == highest) best.push_back(nodes[i]);
  }
  std::uniform_int_distribution<std::size_t> any(0, best.size() - 1);
  return best[any(random_)]->node().metadata.name;
}

void Scheduler::RunPostFilter(const CycleState& state, const Pod& pod,
                              SchedulingFailure& failure) const {
  // Neither after an error, nor without nodes.
  if (failure.status.code() != Code::kUnschedulable) return;
  failure.nominating = {};  // the node stays, unless a plugin overrides it
  const Status status = ProfileForPod(pod).framework.RunPostFilterPlugins(
      state, pod, failure.diagnosis.node_to_status, failure.nominating);
  if (status.reasons().empty()) return;
  failure.status = {Code::kUnschedulable,
                    failure.status.Message() + " " + status.Message()};
}

tl::expected<void, SchedulingFailure> Scheduler::PrepareForBindingCycle(
    PodAttempt& attempt) {
  auto reserved = AssumeAndReserve(attempt);
  if (!reserved) return reserved;
  const Pod& pod = *attempt.info.pod;
  const Status permitted = ProfileForPod(pod).framework.RunPermitPlugins(
      attempt.state, pod, attempt.host, attempt.waits);
  if (!permitted.IsSuccess() && permitted.code() != Code::kWait) {
    UnreserveAndForget(attempt);
    return tl::unexpected(RejectedOn(attempt.host, permitted));
  }
  const Status pre_flight = ProfileForPod(pod).framework.RunPreBindPreFlights(
      attempt.state, pod, attempt.host);
  if (pre_flight.code() == Code::kError) {
    UnreserveAndForget(attempt);
    return Failed(pre_flight);
  }
  attempt.is_nominated = pre_flight.IsSuccess() || !attempt.waits.empty();
  if (!attempt.waits.empty()) AddWaitingPod(attempt);
  return {};
}

tl::expected<void, SchedulingFailure> Scheduler::AssumeAndReserve(
    PodAttempt& attempt) {
  const Pod& pod = *attempt.info.pod;
  const Status assumed = Assume(pod, attempt.host);
  if (!assumed.IsSuccess()) return Failed(assumed);
  trace_.Moved(pod, Place::kAssumed,
               {.attempts = attempt.info.attempts, .node = attempt.host});
  const Status reserved = ProfileForPod(pod).framework.RunReservePluginsReserve(
      attempt.state, pod, attempt.host);
  if (reserved.IsSuccess()) return {};
  UnreserveAndForget(attempt);
  return tl::unexpected(RejectedOn(attempt.host, reserved));
}

Status Scheduler::Assume(const Pod& pod, const std::string& host) {
  auto assumed = std::make_shared<Pod>(pod);
  assumed->spec.node_name = host;
  Status status = cache_.AssumePod(NewPodInfo(assumed));
  if (status.IsSuccess()) queue_.DeleteNominatedPodIfExists(*assumed);
  return status;
}

}  // namespace minisched
