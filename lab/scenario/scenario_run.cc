#include "lab/scenario/scenario_run.h"

#include <signal.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "lab/scenario/errors.h"
#include "lab/scenario/metric_sum.h"
#include "lab/scenario/scheduler_config.h"
#include "minisched/api/duration.h"

namespace minisched::scenario {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using IfAway = Cluster::IfAway;

// How often to poll what can't be watched: events, requests, metrics,
// processes.
constexpr milliseconds kWakeEvery{100};
// How long to retry if the server is unreachable at the end of Hold(), or the
// metrics at a mark.
constexpr seconds kLongestOutage{30};
constexpr char kDefaultMetricsUrl[] = "http://127.0.0.1:$METRICS_PORT/metrics";
constexpr std::size_t kLogLines = 15;
constexpr std::size_t kMaxPodsShown = 5;

// Runs an action. Throws CannotPlay if the server rejects the action's request,
// because the scenario is at fault then.
template <class Action>
void RunRequest(Action action) {
  try {
    action();
  } catch (const ApiError& error) {
    throw CannotPlay(std::string("the server rejected the request: ") +
                     error.what());
  }
}

// Returns a function that calls `function` once and caches the result.
template <class Function>
auto Once(Function function) {
  using Value = decltype(function());
  return [function, known = std::make_shared<std::optional<Value>>()] {
    if (!*known) *known = function();
    return **known;
  };
}

// Calls Evaluate(). If the server is unreachable, sets `is_away` to true and
// returns kNotYet.
Verdict Judge(const Expectation& expectation, const ClusterState& state,
              bool* is_away) {
  *is_away = false;
  try {
    return Evaluate(expectation, state);
  } catch (const TransportError& error) {
    *is_away = true;
    return {Verdict::Kind::kNotYet, error.what()};
  }
}

// Returns a line for each of the first few pods and their events, then a line
// for each of these pods' nodes that is cordoned or has a taint.
std::vector<std::string> DescribePods(const std::vector<std::string>& names,
                                      const ClusterState& state) {
  std::vector<std::string> lines;
  std::set<std::string> nodes;
  std::vector<PodEvent> events;
  try {
    events = state.events();
  } catch (const std::exception& error) {
    lines.push_back(std::string("failed to list events: ") + error.what());
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i == kMaxPodsShown) {
      lines.push_back("… and " + std::to_string(names.size() - i) +
                      " more pods");
      break;
    }
    const auto pod = state.pods.find(names[i]);
    if (pod == state.pods.end()) continue;
    lines.push_back(DescribePod(*pod->second));
    nodes.insert(pod->second->spec.node_name);
    for (const PodEvent& event : events) {
      if (event.pod != names[i]) continue;
      lines.push_back("  " + event.type + " " + event.reason + " (x" +
                      std::to_string(event.count) + "): " + event.message);
    }
  }
  for (const std::string& name : nodes) {
    const auto node = state.nodes.find(name);
    if (node == state.nodes.end()) continue;
    const std::string text = DescribeNode(*node->second);
    if (!text.empty()) lines.push_back(text);
  }
  return lines;
}

// Returns the command that starts the scheduler. Writes its configuration.
std::string Command(const PlayerOptions& options, const Scenario& scenario,
                    const Programs& programs) {
  const std::string& command = options.scheduler;
  if (command.empty() || options.no_flags) return command;
  if (!scenario.config.empty() && !options.no_config) {
    return WithConfigFlag(
        command,
        CompleteSchedulerConfig(scenario.config, scenario.file,
                                {.kubeconfig = options.kubeconfig,
                                 .scheduler_name = options.scheduler_name,
                                 .extender_ports = programs.ports()}),
        options.directory / "scheduler.json");
  }
  return scenario.flags.empty() ? command : command + " " + scenario.flags;
}

// Returns what a scheduler that is already running must have been started with,
// or "".
std::string DescribeConfig(const Scenario& scenario) {
  if (scenario.config.empty()) return scenario.flags;
  return (scenario.flags.empty() ? "" : scenario.flags + ", or with ") +
         "the configuration " + scenario.config;
}

}  // namespace

ScenarioRun::ScenarioRun(const PlayerOptions& options, TextReport& report,
                         Cluster& cluster, const Scenario& scenario,
                         const std::stop_token& stop)
    : options_(options),
      report_(report),
      cluster_(cluster),
      scenario_(scenario),
      stop_(stop),
      // A running scheduler knows only the ports of the file.
      programs_(scenario, options.directory, !options.scheduler.empty()),
      command_(Command(options, scenario, programs_)),
      test_bed_(cluster, options.scheduler_name) {
  std::string url =
      options.metrics_url.empty() ? kDefaultMetricsUrl : options.metrics_url;
  if (!options.scheduler.empty()) {
    metrics_port_.emplace();
    boost::algorithm::replace_all(url, "$METRICS_PORT",
                                  std::to_string(metrics_port_->number()));
  }
  if (scenario.needs_metrics) metrics_.emplace(url);
}

void ScenarioRun::Play() {
  test_bed_.SetUp(scenario_, stop_);
  observer_.emplace(cluster_.client(), test_bed_.namespace_name(),
                    scenario_.throughout, stop_);
  if (scenario_.faults) {
    report_.WriteStep("set the server's faults");
    Do(*scenario_.faults);
  }
  if (scenario_.needs_embedded) Do(MarkRequests());
  for (const Program& program : scenario_.programs) {
    report_.WriteStep("start " + program.name + ": " + program.command);
    Do(ProgramAction{.name = program.name, .start = true});
  }
  if (!options_.scheduler.empty()) {
    report_.WriteStep("start the scheduler: " + command_);
    StartScheduler();
  } else {
    if (const auto config = DescribeConfig(scenario_); !config.empty()) {
      report_.WriteStep("the scheduler must run with " + config);
    }
    if (scenario_.needs_metrics) Do(MarkMetrics());
  }
  for (const Step& step : scenario_.steps) {
    if (!std::holds_alternative<Expect>(step.action)) {
      report_.WriteStep(step.text);
    }
    std::visit([this](const auto& action) { Do(action); }, step.action);
    CheckRules();
  }
}

void ScenarioRun::CleanUp() {
  schedulers_.clear();
  observer_.reset();
  std::string failures;
  try {
    if (faults_set_) cluster_.SetFaults(R"({"faults":[]})", {});
  } catch (const std::exception& error) {
    failures = std::string("faults: ") + error.what() + "; ";
  }
  failures += test_bed_.TearDown();
  if (!failures.empty()) throw CannotPlay("failed to clean up: " + failures);
}

void ScenarioRun::Do(const Create& create) {
  for (const auto& [pod, uid] : test_bed_.Create(create, stop_)) {
    observer_->AwaitCreated(pod, uid, stop_);
    observer_->NoteCreated(pod);
  }
}

void ScenarioRun::Do(const Patch& patch) {
  RunRequest([&] { test_bed_.Patch(patch, stop_); });
}

void ScenarioRun::Do(const Delete& deletion) {
  std::vector<std::string> names;
  RunRequest([&] { names = test_bed_.Delete(deletion, stop_); });
  if (deletion.objects.kind != "Pod") return;
  for (const std::string& name : names) {
    observer_->NoteDeleted(name);
    observer_->AwaitDeleted(name, stop_);
  }
}

void ScenarioRun::Do(const Wait& wait) {
  const auto deadline = RealClock().Now() + wait.duration;
  while (RealClock().Now() < deadline) AwaitChange(deadline);
}

void ScenarioRun::Do(const SchedulerStep& step) {
  using enum SchedulerAction;
  const auto found = schedulers_.find(step.replica);
  const bool runs = found != schedulers_.end();
  if (step.action == kPause || step.action == kResume) {
    if (!runs) return;
    may_exit_.insert(step.replica);
    found->second.Signal(step.action == kPause ? SIGSTOP : SIGCONT);
    return;
  }
  if (step.action == kStart && runs) return;
  if (step.action == kKill && runs) found->second.Kill();
  schedulers_.erase(step.replica);
  may_exit_.erase(step.replica);
  if (step.action == kStart || step.action == kRestart) {
    StartScheduler(step.replica);
  }
}

void ScenarioRun::Do(const ProgramAction& action) {
  if (action.start) {
    programs_.Start(action.name, stop_);
  } else {
    programs_.Stop(action.name);
  }
}

void ScenarioRun::Do(const Faults& faults) {
  faults_set_ = true;
  RunRequest([&] { cluster_.SetFaults(faults.document, stop_); });
}

void ScenarioRun::Do(const Compact&) { cluster_.Compact(stop_); }

void ScenarioRun::Do(const Away& away) {
  cluster_.GoAway(away.duration, stop_);
}

void ScenarioRun::Do(const MarkRequests&) {
  requests_at_mark_ = cluster_.Requests(IfAway::kWait, stop_);
}

void ScenarioRun::Do(const MarkMetrics&) {
  const auto deadline = RealClock().Now() + kLongestOutage;
  while (true) {
    try {
      metrics_at_mark_ = metrics_->Read(stop_);
      return;
    } catch (const MetricsError& error) {
      if (RealClock().Now() >= deadline) {
        throw Failed{{.expected = "the scheduler's metrics",
                      .found = error.what(),
                      .log = SchedulerLog()}};
      }
    }
    AwaitChange(deadline);
  }
}

void ScenarioRun::Do(const Expect& expect) {
  for (const Expectation& expectation : expect.all) {
    Await(expectation, expect.within);
  }
  if (expect.hold_for.count() > 0) Hold(expect);
}

void ScenarioRun::Await(const Expectation& expectation,
                        std::chrono::nanoseconds within) {
  report_.BeginExpectation(expectation.text);
  const auto start = RealClock().Now();
  while (true) {
    const ClusterState state = CurrentState();
    bool is_away = false;
    const Verdict verdict = Judge(expectation, state, &is_away);
    const auto passed = RealClock().Now() - start;
    const bool met = verdict.kind == Verdict::Kind::kMet;
    if (met || verdict.kind == Verdict::Kind::kBroken || passed > within) {
      report_.EndExpectation(passed, met);
      if (met) return;
      Fail(expectation.text, verdict, state);
    }
    AwaitChange(start + within);
  }
}

void ScenarioRun::Hold(const Expect& expect) {
  const auto start = RealClock().Now();
  const auto end = start + expect.hold_for;
  const std::string hold = "for " + FormatDuration(expect.hold_for);
  report_.BeginExpectation("no change " + hold);
  while (true) {
    const ClusterState state = CurrentState();
    bool any_away = false;
    for (const Expectation& expectation : expect.all) {
      bool is_away = false;
      const Verdict verdict = Judge(expectation, state, &is_away);
      // Retry while the server is unreachable.
      any_away |= is_away;
      if (is_away && RealClock().Now() < end + kLongestOutage) continue;
      if (verdict.kind == Verdict::Kind::kMet) continue;
      report_.EndExpectation(RealClock().Now() - start, false);
      Fail(expectation.text + ", " + hold, verdict, state);
    }
    if (RealClock().Now() >= end && !any_away) break;
    AwaitChange(any_away ? end + kLongestOutage : end);
  }
  report_.EndExpectation(RealClock().Now() - start, true);
}

void ScenarioRun::AwaitChange(Clock::TimePoint deadline) {
  observer_->AwaitChange(std::min(deadline, RealClock().Now() + kWakeEvery),
                         stop_);
  if (stop_.stop_requested()) throw Cancelled();
  CheckRules();
}

void ScenarioRun::CheckRules() {
  if (const auto violation = observer_->violation()) {
    Fail("throughout: " + violation->text, violation->verdict, CurrentState());
  }
  programs_.Check();
  for (auto& [replica, scheduler] : schedulers_) {
    const auto ended = scheduler.Ended();
    if (!ended || may_exit_.contains(replica)) continue;
    throw Failed{{.expected = "the scheduler to keep running",
                  .found = "it exited with " + *ended,
                  .log = SchedulerLog()}};
  }
}

ClusterState ScenarioRun::CurrentState() {
  ClusterState state = observer_->State();
  state.events = Once([this] {
    return cluster_.Events(test_bed_.namespace_name(), IfAway::kThrow, stop_);
  });
  state.requests = Once([this] { return RequestsSinceMark(); });
  state.metrics = Once([this] { return MetricsSinceMark(); });
  return state;
}

std::vector<RequestCount> ScenarioRun::RequestsSinceMark() {
  std::map<std::pair<std::string, std::string>, int> counts;
  for (const RequestCount& r : cluster_.Requests(IfAway::kThrow, stop_)) {
    counts[{r.verb, r.resource}] += r.count;
  }
  for (const RequestCount& r : requests_at_mark_) {
    counts[{r.verb, r.resource}] -= r.count;
  }
  std::vector<RequestCount> since;
  for (const auto& [what, count] : counts) {
    since.push_back({what.first, what.second, count});
  }
  return since;
}

std::vector<Sample> ScenarioRun::MetricsSinceMark() {
  std::vector<Sample> samples = metrics_->Read(stop_);
  SubtractCounters(metrics_at_mark_, samples);
  return samples;
}

void ScenarioRun::StartScheduler(int replica) {
  auto port = metrics_port_->number();
  if (replica == 1) {
    metrics_at_mark_.clear();  // A new process counts from zero.
  } else {
    port = ports_[replica].number();
  }
  log_ = options_.directory / (test_bed_.namespace_name() + ".log");
  std::map<std::string, std::string> environment = {
      {"SCHEDULER_NAME", options_.scheduler_name},
      {"METRICS_PORT", std::to_string(port)}};
  if (!options_.kubeconfig.empty()) {
    environment["KUBECONFIG"] = options_.kubeconfig;
  }
  schedulers_.try_emplace(replica, command_, environment, log_);
}

std::string ScenarioRun::SchedulerLog() const {
  return LastLines(log_, kLogLines);
}

void ScenarioRun::Fail(const std::string& expected, const Verdict& verdict,
                       const ClusterState& state) {
  throw Failed{{.expected = expected,
                .found = verdict.found,
                .pods = DescribePods(verdict.pods, state),
                .log = SchedulerLog()}};
}

}  // namespace minisched::scenario
