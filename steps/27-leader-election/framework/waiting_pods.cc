#include "framework/waiting_pods.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "minisched/api/duration.h"

namespace minisched {

void WaitingPods::Add(const PodPtr& pod, const std::string& node_name,
                      const PluginWaits& waits, const std::string& group) {
  const std::string& uid = pod->metadata.uid;
  MutexLock lock(mu_);
  const std::uint64_t number = ++added_;
  Wait added{.pod = {pod, node_name}, .number = number, .group = group};
  for (const auto& [plugin, wait] : waits) {
    const auto time_out = [this, uid, number, plugin = plugin, wait = wait] {
      TimeOut(uid, number, plugin, wait);
    };
    added.pending[plugin] = executor_.PostAfter(wait, time_out);
  }
  Join(waits_.insert_or_assign(uid, std::move(added)).first->second);
}

Task<Status> WaitingPods::WaitOnPermit(PodPtr pod) {
  const auto wait = [&](StatusCallback done) {
    Await(pod->metadata.uid, std::move(done));
  };
  const Status result = co_await CallbackResult<Status>(wait);
  if (result.IsSuccess()) Remove(*pod);
  co_return result;
}

void WaitingPods::Await(const std::string& uid, StatusCallback done) {
  {
    MutexLock lock(mu_);
    if (Wait* wait = Find(uid)) {
      wait->done = std::move(done);
      if (wait->result) Finish(*wait);
      return;
    }
  }
  done({});
}

void WaitingPods::Remove(const Pod& pod) {
  MutexLock lock(mu_);
  waits_.erase(pod.metadata.uid);
}

void WaitingPods::Allow(const std::string& uid, std::string_view plugin) {
  MutexLock lock(mu_);
  if (Wait* wait = Find(uid)) Allow(wait, plugin);
}

void WaitingPods::Allow(Wait* wait, std::string_view plugin) {
  const auto timer = wait->pending.extract(plugin);
  if (timer.empty()) return;
  executor_.Cancel(timer.mapped());
  if (wait->pending.empty()) End(*wait, {});
}

bool WaitingPods::Reject(const std::string& uid, std::string_view plugin,
                         const std::string& message) {
  MutexLock lock(mu_);
  Wait* wait = Find(uid);
  return wait != nullptr &&
         End(*wait, Status(Code::kUnschedulable, message).WithPlugin(plugin));
}

bool WaitingPods::Preempt(const std::string& uid, std::string_view plugin,
                          const std::string& message) {
  MutexLock lock(mu_);
  Wait* wait = Find(uid);
  const Status error(Code::kError, "waiting on permit for pod: " + message);
  return wait != nullptr && End(*wait, error.WithPlugin(plugin));
}

bool WaitingPods::EndWait(const std::string& uid, bool allow) {
  MutexLock lock(mu_);
  Wait* wait = Find(uid);
  if (wait == nullptr || wait->pending.empty()) return false;
  if (allow) return End(*wait, {});
  return End(*wait, Status(Code::kUnschedulable, "rejected by hand")
                        .WithPlugin(wait->pending.begin()->first));
}

bool WaitingPods::IsRejected(const std::string& uid) const {
  MutexLock lock(mu_);
  const auto wait = waits_.find(uid);
  return wait != waits_.end() && wait->second.result &&
         !wait->second.result->IsSuccess();
}

void WaitingPods::TimeOut(const std::string& uid, std::uint64_t number,
                          std::string_view plugin, Clock::Duration wait) {
  MutexLock lock(mu_);
  Wait* waiting = Find(uid);
  // The timer was due before the plugin allowed the pod, or before the pod was
  // removed and began to wait again.
  if (waiting == nullptr || waiting->number != number ||
      !waiting->pending.contains(plugin)) {
    return;
  }
  End(*waiting,
      Status(Code::kUnschedulable,
             fmt::format("rejected due to timeout after waiting {} at plugin "
                         "{}",
                         FormatGoDuration(wait), plugin))
          .WithPlugin(plugin));
}

bool WaitingPods::End(Wait& wait, const Status& result) {
  if (wait.result) return false;
  StopTimers(wait);
  wait.result = result;
  EndInGroup(wait);
  if (wait.done) Finish(wait);
  return true;
}

void WaitingPods::Finish(Wait& wait) {
  executor_.Post([done = std::exchange(wait.done, nullptr),
                  result = *wait.result] { done(result); });
}

void WaitingPods::StopTimers(Wait& wait) {
  for (const auto& [plugin, timer] : wait.pending) executor_.Cancel(timer);
  wait.pending.clear();
}

WaitingPods::Wait* WaitingPods::Find(const std::string& uid) {
  const auto wait = waits_.find(uid);
  return wait == waits_.end() ? nullptr : &wait->second;
}

void WaitingPods::IterateOverWaitingPods(
    const std::function<void(const WaitingPod&)>& visit) const {
  std::vector<WaitingPod> pods;
  {
    MutexLock lock(mu_);
    for (const auto& [uid, wait] : waits_) pods.push_back(wait.pod);
  }
  for (const WaitingPod& pod : pods) visit(pod);
}

void WaitingPods::Clear() {
  decltype(waits_) dropped;  // destroyed after the lock is released
  decltype(groups_) groups;
  MutexLock lock(mu_);
  for (auto& [uid, wait] : waits_) StopTimers(wait);
  dropped.swap(waits_);
  groups.swap(groups_);
}

}  // namespace minisched
