#pragma once

#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "cluster_event.h"

namespace minisched {

// The pods in flight, and the changes of the cluster since the first of them
// was popped. Not thread-safe. Follows kube-scheduler's
// backend/queue/active_queue.go.
class InFlight {
 public:
  bool Has(const std::string& uid) const { return pods_.contains(uid); }

  // Adds a pod that is popped. REQUIRES: !Has(uid).
  void Add(const std::string& uid) {
    pods_[uid] = entries_.emplace(entries_.end(), uid);
  }

  // Records a change, for all pods that are in flight now.
  void Record(const ClusterChange& change) {
    if (!pods_.empty()) entries_.emplace_back(change);
  }

  // Returns the changes since the pod was popped, or nullopt if the pod isn't
  // in flight.
  std::optional<std::vector<ClusterChange>> ChangesSincePop(
      const std::string& uid) const {
    const auto pod = pods_.find(uid);
    if (pod == pods_.end()) return std::nullopt;
    std::vector<ClusterChange> changes;
    for (Entries::const_iterator entry = pod->second; entry != entries_.end();
         ++entry) {
      const auto* change = std::get_if<ClusterChange>(&*entry);
      if (change != nullptr) changes.push_back(*change);
    }
    return changes;
  }

  // Removes the pod, and the changes that no pod needs any more. Does nothing
  // if the pod isn't in flight.
  void Remove(const std::string& uid) {
    const auto pod = pods_.extract(uid);
    if (pod.empty()) return;
    entries_.erase(pod.mapped());
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
  Entries entries_;
  std::unordered_map<std::string, Entries::iterator> pods_;  // by uid
};

}  // namespace minisched
