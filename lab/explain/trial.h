#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "lab/explain/copy.h"
#include "lab/explain/objects.h"
#include "lab/explain/scheduler_run.h"
#include "lab/scenario/scenario.h"
#include "minisched/client/client.h"

namespace minisched::explain {

// What each copy begins with.
struct Experiment {
  NamespacedName pod;
  std::string scheduler;       // the command
  std::string scheduler_name;  // the pod's
  Objects::Selection objects;
  // Creates the pod if it is new, and carries out the steps of --what-if.
  std::vector<scenario::Step> steps;
};

// A fresh copy, and what happens to the pod there.
class Trial {
 public:
  // Makes the copy, and carries out the experiment's steps and then `more`.
  // Throws CannotTell, also if the pod is not there after the steps.
  Trial(const Experiment& experiment, const std::vector<scenario::Step>& more,
        const std::stop_token& stop);

  const Pod& pod() const { return *pod_; }
  Copy& copy() { return copy_; }
  Client& client() { return client_; }

  // Runs the scheduler.
  Outcome Run(Clock::TimePoint deadline, const std::stop_token& stop) const {
    return RunScheduler(copy_, experiment_.scheduler, *pod_, deadline, stop);
  }

 private:
  const Experiment& experiment_;
  Copy copy_;
  Client client_;
  std::shared_ptr<const Pod> pod_;
};

}  // namespace minisched::explain
