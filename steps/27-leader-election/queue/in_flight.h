#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>
#include <variant>

#include "framework/cluster_event.h"

namespace minisched {

// The pods in flight, and the changes of the cluster since the first of them
// was popped. Not thread-safe. Follows kube-scheduler's
// backend/queue/active_queue.go.
class InFlight {
 public:
  bool Has(const std::string& uid) const { return pods_.contains(uid); }
  // Returns true if the pod has been in flight since this pop.
  bool Has(const std::string& uid, std::uint64_t pop) const {
    const auto pod = pods_.find(uid);
    return pod != pods_.end() && pod->second.pop == pop;
  }

  // Adds a pod that is popped, and returns the number of this pop. REQUIRES:
  // !Has(uid).
  std::uint64_t Add(const std::string& uid) {
    pods_[uid] = {++pops_, entries_.emplace(entries_.end(), uid)};
    return pops_;
  }

  // Records a change, for all pods that are in flight now.
  void Record(const ClusterChange& change) {
    if (!pods_.empty()) entries_.emplace_back(change);
  }

  // Returns true if `predicate` holds for a change since the pod was popped.
  // REQUIRES: Has(uid).
  template <class Predicate>
  bool AnyChangeSincePop(const std::string& uid,
                         const Predicate& predicate) const {
    return std::any_of(Entries::const_iterator(pods_.at(uid).entry),
                       entries_.end(), [&](const auto& entry) {
                         const auto* change =
                             std::get_if<ClusterChange>(&entry);
                         return change && predicate(*change);
                       });
  }

  // Removes the pod, and the changes that no pod needs any more. Does nothing
  // if the pod isn't in flight.
  void Remove(const std::string& uid) {
    const auto pod = pods_.extract(uid);
    if (pod.empty()) return;
    entries_.erase(pod.mapped().entry);
    while (!entries_.empty() &&
           std::holds_alternative<ClusterChange>(entries_.front())) {
      entries_.pop_front();
    }
  }

 private:
  friend class SchedulingQueuePeer;  // for tests

  // Uids of pods, and changes, in the order in which they came. The first one
  // is a uid.
  using Entries = std::list<std::variant<std::string, ClusterChange>>;
  struct Popped {
    std::uint64_t pop;
    Entries::iterator entry;
  };

  Entries entries_;
  std::unordered_map<std::string, Popped> pods_;  // by uid
  std::uint64_t pops_ = 0;
};

}  // namespace minisched
