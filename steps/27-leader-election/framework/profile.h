#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "framework/framework.h"
#include "minisched/api/pod.h"
#include "minisched/events/event_recorder.h"

namespace minisched {

// What the scheduler uses for the pods of one scheduler name only.
struct Profile {
  Framework framework;
  std::unique_ptr<EventRecorder> recorder;  // its events have this name
  int percentage_of_nodes_to_score;         // 0: by the number of nodes
};

// Profiles by scheduler name. Follows kube-scheduler's profile/profile.go.
using Profiles = std::map<std::string, Profile, std::less<>>;

// Pointers to the frameworks of the profiles, by scheduler name. The frameworks
// must outlive it, and keep their addresses.
class Frameworks {
 public:
  using ByName = std::map<std::string, const Framework*, std::less<>>;

  explicit Frameworks(const Profiles& profiles) {
    for (const auto& [name, profile] : profiles) {
      by_name_.emplace(name, &profile.framework);
    }
  }
  // Has a single framework, for pods of any scheduler name: tests need no
  // profiles.
  Frameworks(const Framework& only)  // NOLINT(google-explicit-constructor)
      : by_name_{{"", &only}} {}

  // Returns the framework with the first name, in alphabetical order.
  const Framework& First() const { return *by_name_.begin()->second; }

  // Returns the framework of the pod's profile, or the only framework. Throws
  // std::out_of_range if there are several, and no profile has the pod.
  const Framework& ForPod(const Pod& pod) const {
    if (by_name_.size() == 1) return First();
    return *by_name_.at(pod.spec.scheduler_name);
  }

  ByName::const_iterator begin() const { return by_name_.begin(); }
  ByName::const_iterator end() const { return by_name_.end(); }

 private:
  ByName by_name_;
};

}  // namespace minisched
