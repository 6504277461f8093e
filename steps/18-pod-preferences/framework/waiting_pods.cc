#include "framework/waiting_pods.h"

#include <fmt/format.h>

#include <utility>

#include "minisched/api/duration.h"

namespace minisched {

std::vector<std::string> WaitingPod::GetPendingPlugins() const {
  MutexLock lock(mu_);
  std::vector<std::string> plugins;
  for (const auto& [plugin, timer] : pending_) plugins.emplace_back(plugin);
  return plugins;
}

void WaitingPod::Allow(std::string_view plugin) {
  MutexLock lock(mu_);
  AllowLocked(plugin);
}

void WaitingPod::AllowLocked(std::string_view plugin) {
  const auto timer = pending_.extract(plugin);
  if (timer.empty()) return;
  executor_.Cancel(timer.mapped());
  if (pending_.empty()) End({});
}

bool WaitingPod::Reject(std::string_view plugin, const std::string& message) {
  MutexLock lock(mu_);
  return End(Status(Code::kUnschedulable, message).WithPlugin(plugin));
}

bool WaitingPod::Preempt(std::string_view plugin, const std::string& message) {
  MutexLock lock(mu_);
  return End(Status(Code::kError, "waiting on permit for pod: " + message)
                 .WithPlugin(plugin));
}

bool WaitingPod::EndWait(bool allow) {
  MutexLock lock(mu_);
  if (pending_.empty()) return false;  // the wait has ended
  const Status rejection(Code::kUnschedulable, "rejected by hand");
  return End(allow ? Status() : rejection.WithPlugin(pending_.begin()->first));
}

bool WaitingPod::IsRejected() const {
  MutexLock lock(mu_);
  return result_ && !result_->IsSuccess();
}

void WaitingPod::Start(const PluginWaits& waits,
                       const std::shared_ptr<WaitingGroup>& group) {
  MutexLock lock(mu_);
  for (const auto& [plugin, wait] : waits) {
    // The timer doesn't keep the pod alive.
    const auto time_out = [weak = weak_from_this(), plugin = plugin,
                           wait = wait] {
      if (const auto self = weak.lock()) self->TimeOut(plugin, wait);
    };
    pending_[plugin] = executor_.PostAfter(wait, time_out);
  }
  if (group) group->Join(shared_from_this());
}

void WaitingPod::TimeOut(std::string_view plugin, Clock::Duration wait) {
  MutexLock lock(mu_);
  // The plugin may have allowed the pod after its timer was due.
  if (!pending_.contains(plugin)) return;
  End(Status(Code::kUnschedulable,
             fmt::format("rejected due to timeout after waiting {} at plugin "
                         "{}",
                         FormatGoDuration(wait), plugin))
          .WithPlugin(plugin));
}

void WaitingPod::Await(StatusCallback done) {
  MutexLock lock(mu_);
  done_ = std::move(done);
  if (result_) Finish();
}

StatusCallback WaitingPod::Drop() {
  StopTimers();
  if (!result_) result_ = Status();
  group_ = nullptr;
  return std::exchange(done_, nullptr);
}

bool WaitingPod::End(const Status& result) {
  if (result_) return false;
  StopTimers();
  result_ = result;
  if (group_) group_->Ended(*this, result);
  if (done_) Finish();
  return true;
}

void WaitingPod::Finish() {
  executor_.Post([done = std::exchange(done_, nullptr), result = *result_] {
    done(result);
  });
}

void WaitingPod::StopTimers() {
  for (const auto& [plugin, timer] : pending_) executor_.Cancel(timer);
  pending_.clear();
}

std::shared_ptr<WaitingPod> WaitingPods::Add(
    const PodPtr& pod, const std::string& node_name, const PluginWaits& waits,
    const std::shared_ptr<WaitingGroup>& group) {
  auto waiting = std::make_shared<WaitingPod>(executor_, mu_, pod, node_name);
  waiting->Start(waits, group);
  MutexLock lock(mu_);
  pods_[pod->metadata.uid] = waiting;
  return waiting;
}

Task<Status> WaitingPods::WaitOnPermit(PodPtr pod) {
  const auto wait = [&](StatusCallback done) {
    const auto waiting = Get(pod->metadata.uid);
    if (waiting) return waiting->Await(std::move(done));
    done({});
  };
  const Status result = co_await CallbackResult<Status>(wait);
  if (result.IsSuccess()) Remove(*pod);
  co_return result;
}

void WaitingPods::Remove(const Pod& pod) {
  MutexLock lock(mu_);
  pods_.erase(pod.metadata.uid);
}

std::shared_ptr<WaitingPod> WaitingPods::Get(const std::string& uid) const {
  MutexLock lock(mu_);
  const auto pod = pods_.find(uid);
  return pod == pods_.end() ? nullptr : pod->second;
}

void WaitingPods::Iterate(const std::function<void(WaitingPod&)>& visit) const {
  std::vector<std::shared_ptr<WaitingPod>> pods;
  {
    MutexLock lock(mu_);
    for (const auto& [uid, pod] : pods_) pods.push_back(pod);
  }
  for (const auto& pod : pods) visit(*pod);
}

void WaitingPods::Clear() {
  // Destroyed after the lock is released.
  decltype(pods_) pods;
  std::vector<StatusCallback> dropped;
  MutexLock lock(mu_);
  pods.swap(pods_);
  for (const auto& [uid, pod] : pods) {
    pod->mu_.AssertHeld();
    dropped.push_back(pod->Drop());
  }
}

}  // namespace minisched
