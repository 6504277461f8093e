#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "framework/queued_pod_info.h"

namespace minisched {

// A sorted set of pods. Pops the first pod, and finds any pod by its uid. Each
// operation takes logarithmic time at most. Not thread-safe. Follows
// kube-scheduler's backend/heap.
class Heap {
 public:
  // Returns true if the first pod comes before the second.
  using Less = std::function<bool(const QueuedPodInfo&, const QueuedPodInfo&)>;

  // Sets what the order depends on. Runs before a pod is added or updated.
  using BeforeSort = std::function<void(QueuedPodInfo&)>;

  explicit Heap(const Less& less, BeforeSort before_sort = nullptr)
      : before_sort_(std::move(before_sort)), pods_(less) {}

  // Adds a pod, behind those that are equal in the order. REQUIRES: the heap
  // doesn't have the pod.
  void Add(QueuedPodInfo info) { Insert(pods_.end(), std::move(info)); }

  // Replaces the state of a pod. Returns false if the heap doesn't have it.
  bool Update(const PodPtr& pod) {
    const auto known = by_uid_.find(pod->metadata.uid);
    if (known == by_uid_.end()) return false;
    QueuedPodInfo info = *known->second;
    info.pod = pod;
    // The hint keeps the pod's place among its equals.
    Insert(pods_.erase(known->second), std::move(info));
    return true;
  }

  // Returns the first pod, or null if the heap is empty.
  const QueuedPodInfo* Peek() const {
    return pods_.empty() ? nullptr : &*pods_.begin();
  }

  // Removes and returns the first pod. REQUIRES: the heap is not empty.
  QueuedPodInfo Pop() { return *Remove(pods_.begin()->pod->metadata.uid); }

  // Removes and returns the pod with this uid, if the heap has it.
  std::optional<QueuedPodInfo> Remove(const std::string& uid) {
    const auto known = by_uid_.find(uid);
    if (known == by_uid_.end()) return std::nullopt;
    QueuedPodInfo info = std::move(pods_.extract(known->second).value());
    by_uid_.erase(known);
    return info;
  }

  bool Has(const std::string& uid) const { return by_uid_.contains(uid); }
  bool empty() const { return pods_.empty(); }
  std::size_t size() const { return pods_.size(); }

  // Iterators over all pods, in the order in which Pop() would return them.
  auto begin() const { return pods_.begin(); }
  auto end() const { return pods_.end(); }

 private:
  using Pods = std::multiset<QueuedPodInfo, Less>;

  void Insert(Pods::const_iterator hint, QueuedPodInfo info) {
    const std::string uid = info.pod->metadata.uid;
    if (before_sort_) before_sort_(info);
    by_uid_[uid] = pods_.insert(hint, std::move(info));
  }

  const BeforeSort before_sort_;
  Pods pods_;
  std::unordered_map<std::string, Pods::iterator> by_uid_;
};

}  // namespace minisched
