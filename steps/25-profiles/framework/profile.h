#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "framework/framework.h"
#include "minisched/api/pod.h"
#include "minisched/events/event_recorder.h"

namespace minisched {

// What differs between the pods of one scheduler name and those of another.
struct Profile {
  Framework framework;
  std::unique_ptr<EventRecorder> recorder;  // reports as this scheduler
  int percentage_of_nodes_to_score;         // 0: by the number of nodes
};

// The profiles by scheduler name. Follows kube-scheduler's profile/profile.go.
using Profiles = std::map<std::string, Profile, std::less<>>;

// The frameworks of the profiles. Refers to frameworks that must outlive it.
class Frameworks {
 public:
  using ByName = std::map<std::string, const Framework*, std::less<>>;

  explicit Frameworks(const Profiles& profiles) {
    for (const auto& [name, profile] : profiles) {
      by_name_.emplace(name, &profile.framework);
    }
  }
  // The only framework of a scheduler, for pods of any scheduler name.
  Frameworks(const Framework& only)  // NOLINT(google-explicit-constructor)
      : by_name_{{"", &only}} {}

  const Framework& First() const { return *by_name_.begin()->second; }

  // Returns the framework of the pod's profile. REQUIRES: there is one.
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
