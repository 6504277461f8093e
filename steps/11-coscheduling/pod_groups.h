#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "minisched/api/pod.h"
#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"
#include "queued_pod_info.h"

namespace minisched {

// A group of pods, of which a minimum must run together. Its members have two
// labels of scheduler-plugins v0.18: the group's name, and the minimum.
struct PodGroup {
  std::string key;  // "namespace/name"
  int min_available;
  // The priority and the age of the first member that was added. They never
  // change, because the queue sorts by them.
  std::int32_t priority;
  Clock::TimePoint since;

  // Returns the group that the pod's labels name, with the pod as the first
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
  void Assume(const Pod& pod) EXCLUDES(mu_);
  void Forget(const Pod& pod) EXCLUDES(mu_);

  // Returns the pod's group, or nullopt if the pod is in none.
  std::optional<PodGroup> Find(const Pod& pod) const EXCLUDES(mu_);

  // The members of a group, except those that are being deleted or have
  // scheduling gates.
  struct Members {
    std::vector<PodPtr> pending;
    std::vector<PodPtr> assumed;
    std::size_t bound = 0;

    std::size_t placed() const { return assumed.size() + bound; }
    std::size_t size() const { return pending.size() + placed(); }
  };
  // Returns no members if there is no such group.
  Members MembersOf(const std::string& key) const EXCLUDES(mu_);

 private:
  struct Member {
    PodPtr pod;
    bool assumed = false;
  };
  struct State {
    PodGroup group;
    std::map<std::string, Member> members;  // by uid
  };

  Member* FindMember(const Pod& pod) REQUIRES(mu_);
  void RemoveMember(const std::string& uid) REQUIRES(mu_);

  Clock& clock_;
  mutable Mutex mu_;  // No other lock is taken under it.
  std::map<std::string, State> groups_ GUARDED_BY(mu_);                // by key
  std::unordered_map<std::string, std::string> keys_ GUARDED_BY(mu_);  // by uid
};

}  // namespace minisched
