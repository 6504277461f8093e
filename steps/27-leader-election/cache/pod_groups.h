#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "framework/queued_pod_info.h"
#include "minisched/api/pod.h"
#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"

namespace minisched {

// A group of pods, of which a minimum must run together. Its members have two
// labels of scheduler-plugins v0.18: the group's name, and the minimum.
struct PodGroup {
  std::string key;  // "namespace/name"
  // The minimum and the priority of the oldest member that is not being
  // deleted.
  int min_available;
  std::int32_t priority;
  Clock::TimePoint since;  // when the first member was added

  // Returns the group that the pod's labels name, with the pod as the only
  // member. Returns nullopt for a pod without these labels, or if the minimum
  // is not a positive number.
  static std::optional<PodGroup> Of(const Pod& pod, Clock::TimePoint now = {});
};

// The pods of each group, and which of them have a node. The event handlers
// report the pods; the plugin Coscheduling reports those that are assumed.
// Thread-safe. Follows podgroupstate.go of kube-scheduler's backend/cache.
class PodGroups {
 public:
  // `clock` must outlive this object.
  explicit PodGroups(Clock& clock) : clock_(clock) {}

  // Adds a pod to the group of its labels, or replaces its state.
  void Set(const PodPtr& pod) EXCLUDES(mu_);
  void Remove(const Pod& pod) EXCLUDES(mu_);

  // Assume() counts a member as placed although the event handlers have not
  // reported its node yet. Forget() undoes this. Both do nothing if the pod is
  // in no group.
  void Assume(const Pod& pod) EXCLUDES(mu_) { SetAssumed(pod, true); }
  void Forget(const Pod& pod) EXCLUDES(mu_) { SetAssumed(pod, false); }

  // Returns the pod's group, or null if the pod is in none.
  std::shared_ptr<const PodGroup> Find(const Pod& pod) const EXCLUDES(mu_);

  // The members of a group, the oldest first, except those that are being
  // deleted or have scheduling gates.
  struct Members {
    std::vector<PodPtr> pending = {};
    std::vector<PodPtr> assumed = {};
    std::vector<PodPtr> bound = {};
    bool failed = false;  // what SetFailed() has set

    auto placed() const { return std::ssize(assumed) + std::ssize(bound); }
    auto size() const { return std::ssize(pending) + placed(); }
  };
  // Returns no members if there is no such group.
  Members MembersOf(const std::string& key) const EXCLUDES(mu_);

  // Records whether the group has failed since it was last complete.
  void SetFailed(const std::string& key, bool failed) EXCLUDES(mu_);

 private:
  struct Member {
    PodPtr pod;
    bool assumed = false;
  };
  struct State {
    std::shared_ptr<const PodGroup> group;
    std::map<std::uint64_t, Member> members;  // the oldest first
    bool failed = false;
  };
  // Where a pod is: its group, and its number there.
  struct Place {
    std::string key;
    std::uint64_t number;
  };

  // Sets the group's minimum and priority.
  void UpdateGroup(State& state) REQUIRES(mu_);
  void SetAssumed(const Pod& pod, bool assumed) EXCLUDES(mu_);
  void RemoveMember(const std::string& uid) REQUIRES(mu_);

  Clock& clock_;
  mutable Mutex mu_;  // No other lock is taken under it.
  std::map<std::string, State> groups_ GUARDED_BY(mu_);            // by key
  std::unordered_map<std::string, Place> places_ GUARDED_BY(mu_);  // by uid
  std::uint64_t added_ GUARDED_BY(mu_) = 0;
};

}  // namespace minisched
