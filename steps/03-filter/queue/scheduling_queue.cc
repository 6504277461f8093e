#include "queue/scheduling_queue.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace minisched {
namespace {

constexpr std::chrono::seconds kRetryAfter{1};

}  // namespace

void SchedulingQueue::Add(const PodPtr& pod) { Update(nullptr, pod); }

void SchedulingQueue::Update(const PodPtr& /*old*/, const PodPtr& pod) {
  const std::string& uid = pod->metadata.uid;
  MutexLock lock(mu_);
  if (in_flight_.contains(uid)) return;
  if (QueuedPodInfo* known = Find(uid)) {
    known->pod = pod;
  } else {
    PushActive({.pod = pod, .timestamp = clock_.Now()}, "UnscheduledPodAdd");
  }
}

void SchedulingQueue::Delete(const Pod& pod) {
  const std::string& uid = pod.metadata.uid;
  MutexLock lock(mu_);
  if (Find(uid) == nullptr) return;
  trace_.Moved(pod, Place::kGone);
  unschedulable_.erase(uid);
  const auto active = in_active_.find(uid);
  if (active == in_active_.end()) return;
  active_.erase(active->second);
  in_active_.erase(active);
}

std::optional<QueuedPodInfo> SchedulingQueue::Pop() {
  MutexLock lock(mu_);
  while (active_.empty() && !closed_) changed_.Wait(mu_);
  if (closed_) return std::nullopt;
  QueuedPodInfo info = std::move(active_.front());
  active_.pop_front();
  in_active_.erase(info.pod->metadata.uid);
  in_flight_.insert(info.pod->metadata.uid);
  ++info.attempts;
  trace_.Moved(*info.pod, Place::kInFlight, {.attempts = info.attempts});
  return info;
}

void SchedulingQueue::Done(const std::string& uid) {
  MutexLock lock(mu_);
  in_flight_.erase(uid);
}

PodPtr SchedulingQueue::AddUnschedulableIfNotPresent(QueuedPodInfo info) {
  const std::string uid = info.pod->metadata.uid;
  MutexLock lock(mu_);
  in_flight_.erase(uid);
  PodPtr newest = lister_(info.pod->metadata);
  if (!newest || newest->metadata.uid != uid ||
      !newest->spec.node_name.empty()) {
    trace_.Moved(*info.pod, Place::kGone, {.attempts = info.attempts});
    return nullptr;
  }
  info.pod = newest;
  info.timestamp = clock_.Now();
  trace_.Moved(*info.pod, Place::kUnschedulable,
               {.event = "ScheduleAttemptFailure",
                .attempts = info.attempts,
                .until = info.timestamp + kRetryAfter});
  unschedulable_.emplace(uid, std::move(info));
  return newest;
}

void SchedulingQueue::FlushUnschedulablePods() {
  MutexLock lock(mu_);
  const auto now = clock_.Now();
  std::vector<QueuedPodInfo> due;
  for (const auto& [uid, info] : unschedulable_) {
    if (info.timestamp + kRetryAfter <= now) due.push_back(info);
  }
  std::sort(due.begin(), due.end(), [](const auto& a, const auto& b) {
    return a.timestamp < b.timestamp;
  });
  for (QueuedPodInfo& info : due) {
    unschedulable_.erase(info.pod->metadata.uid);
    info.timestamp = now;
    PushActive(std::move(info), "UnschedulableTimeout");
  }
}

QueueRecord SchedulingQueue::ActiveOrder(std::size_t n) const {
  MutexLock lock(mu_);
  QueueRecord order{.length = active_.size()};
  for (const QueuedPodInfo& info : active_) {
    if (order.active.size() == n) break;
    order.active.push_back(info.pod->metadata.uid);
  }
  return order;
}

void SchedulingQueue::Close() {
  MutexLock lock(mu_);
  closed_ = true;
  changed_.NotifyAll();
}

QueuedPodInfo* SchedulingQueue::Find(const std::string& uid) {
  if (const auto active = in_active_.find(uid); active != in_active_.end()) {
    return &*active->second;
  }
  const auto failed = unschedulable_.find(uid);
  return failed == unschedulable_.end() ? nullptr : &failed->second;
}

void SchedulingQueue::PushActive(QueuedPodInfo info, std::string event) {
  trace_.Moved(*info.pod, Place::kActive,
               {.event = std::move(event), .attempts = info.attempts});
  const std::string uid = info.pod->metadata.uid;
  in_active_[uid] = active_.insert(active_.end(), std::move(info));
  changed_.NotifyOne();
}

}  // namespace minisched
