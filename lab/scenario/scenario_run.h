#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "lab/scenario/child_process.h"
#include "lab/scenario/cluster.h"
#include "lab/scenario/observer.h"
#include "lab/scenario/player.h"
#include "lab/scenario/programs.h"
#include "lab/scenario/report.h"
#include "lab/scenario/reserved_port.h"
#include "lab/scenario/scenario.h"
#include "lab/scenario/scheduler_metrics.h"
#include "lab/scenario/test_bed.h"

namespace minisched::scenario {

// Thrown by ScenarioRun::Play() when the scheduler does not meet an
// expectation, or exits.
struct Failed {
  Failure failure;
};

// Plays one scenario once. Not thread-safe.
class ScenarioRun {
 public:
  // All arguments must outlive the run.
  ScenarioRun(const PlayerOptions& options, TextReport& report,
              Cluster& cluster, const Scenario& scenario,
              const std::stop_token& stop);

  // Plays the scenario. Throws Failed, CannotPlay, Cancelled, and what Client
  // throws.
  void Play();

  // Cleans up after Play(), also after an exception. Throws CannotPlay if the
  // cleanup fails.
  void CleanUp();

  // Returns the last lines of what the scenario's programs have written.
  std::map<std::string, std::string> ProgramLogs() const {
    return programs_.Logs();
  }

 private:
  void Do(const Create& create);
  void Do(const Patch& patch);
  void Do(const Delete& deletion);
  void Do(const Wait& wait);
  void Do(const SchedulerStep& step);
  void Do(const ProgramAction& action);
  void Do(const Faults& faults);
  void Do(const Compact&);
  void Do(const Away& away);
  void Do(const MarkRequests&);
  void Do(const MarkMetrics&);
  void Do(const Expect& expect);

  // Blocks until the expectation is met. Throws Failed when it can't be met any
  // more or `within` has passed.
  void Await(const Expectation& expectation, std::chrono::nanoseconds within);
  // Throws Failed unless all expectations stay met for `expect.hold_for`.
  void Hold(const Expect& expect);
  // Blocks until a change or the deadline, but at most kWakeEvery, and then
  // calls CheckRules(). Throws Cancelled on a stop request.
  void AwaitChange(Clock::TimePoint deadline);
  // Throws Failed if a rule of `throughout` was broken or the scheduler exited,
  // and CannotPlay if a program exited.
  void CheckRules();

  // Returns the current state, which reads events and requests from the server,
  // and metrics from the scheduler, when they are first needed, and at most
  // once.
  ClusterState CurrentState();
  std::vector<RequestCount> RequestsSinceMark();
  std::vector<Sample> MetricsSinceMark();

  void StartScheduler(int replica = 1);
  [[noreturn]] void Fail(const std::string& expected, const Verdict& verdict,
                         const ClusterState& state);
  std::string SchedulerLog() const;

  const PlayerOptions& options_;
  TextReport& report_;
  Cluster& cluster_;
  const Scenario& scenario_;
  const std::stop_token& stop_;
  Programs programs_;
  const std::string command_;  // starts the scheduler
  TestBed test_bed_;
  std::optional<Observer> observer_;
  std::optional<ReservedPort> metrics_port_;  // of the scheduler to start
  std::optional<SchedulerMetrics> metrics_;
  // The replicas of the scheduler, by number, and those that may exit.
  std::map<int, ChildProcess> schedulers_;
  std::set<int> may_exit_;
  std::map<int, ReservedPort> ports_;  // of the replicas from the second on
  std::string log_;                    // the file of all replicas' output
  std::vector<RequestCount> requests_at_mark_;
  std::vector<Sample> metrics_at_mark_;
  bool faults_set_ = false;
};

}  // namespace minisched::scenario
