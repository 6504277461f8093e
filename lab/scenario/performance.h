#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "lab/scenario/child_process.h"
#include "lab/scenario/cluster.h"
#include "lab/scenario/observer.h"
#include "lab/scenario/player.h"
#include "lab/scenario/scenario.h"
#include "lab/scenario/stage.h"
#include "lab/scenario/story.h"

namespace minisched::scenario {

// Ends a performance: the scheduler did not do as expected.
struct Failed {
  Failure failure;
};

// One scenario being played, for this one time. Not thread-safe.
class Performance {
 public:
  // Does nothing yet. All of these must outlive it.
  Performance(const PlayerOptions& options, Story& story, Cluster& cluster,
              const Scenario& scenario, const std::stop_token& stop);

  // Throws Failed, CannotPlay, Cancelled, and what Client throws.
  void Play();

  // Leaves nothing behind, however Play() has ended. Throws CannotPlay where
  // something could not be undone.
  void End();

 private:
  void Do(const Create& create);
  void Do(const Patch& patch);
  void Do(const Delete& deletion);
  void Do(const Wait& wait);
  void Do(SchedulerAction action);
  void Do(const Faults& faults);
  void Do(const Compact&);
  void Do(const Away& away);
  void Do(const MarkRequests&);
  void Do(const Expect& expect);

  // Until it is as expected.
  void Await(const Expectation& expectation, std::chrono::nanoseconds within);
  // It stays as expected.
  void Hold(const Expect& expect);
  void AwaitChange(Clock::TimePoint deadline);
  // What must be so all the time.
  void CheckRules();

  // What there is. Each of the things that must be asked for is asked for once
  // at most.
  World Look();
  std::vector<RequestCount> RequestsSinceMark();

  void StartScheduler();
  [[noreturn]] void Fail(const std::string& expected, const Verdict& verdict,
                         const World& world);
  std::string SchedulerLog() const;

  const PlayerOptions& options_;
  Story& story_;
  Cluster& cluster_;
  const Scenario& scenario_;
  const std::stop_token& stop_;
  Stage stage_;
  std::optional<Observer> observer_;
  std::optional<ChildProcess> scheduler_;
  std::string log_;  // the scheduler's output, a file
  std::vector<RequestCount> requests_before_;
  bool faulty_ = false;
};

}  // namespace minisched::scenario
