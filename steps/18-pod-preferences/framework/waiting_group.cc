#include "framework/waiting_group.h"

#include <utility>

#include "framework/waiting_pods.h"

namespace minisched {

bool WaitingGroup::Allow() {
  MutexLock lock(mu_);
  if (state_ == State::kRejected) return false;
  state_ = State::kAllowed;
  for (const auto& pod : std::exchange(pods_, {})) {
    pod->mu_.AssertHeld();
    pod->AllowLocked(plugin_);
  }
  return true;
}

void WaitingGroup::Reject(const std::string& message) {
  MutexLock lock(mu_);
  RejectAll(Status(Code::kUnschedulable, message).WithPlugin(plugin_));
}

bool WaitingGroup::IsRejected() const {
  MutexLock lock(mu_);
  return state_ == State::kRejected;
}

void WaitingGroup::Join(const std::shared_ptr<WaitingPod>& pod) {
  mu_.AssertHeld();
  pod->mu_.AssertHeld();
  if (state_ == State::kRejected) {
    pod->End(rejection_);
  } else if (state_ == State::kAllowed) {
    pod->AllowLocked(plugin_);
  } else {
    pods_.push_back(pod);
    pod->group_ = shared_from_this();
  }
}

void WaitingGroup::Ended(const WaitingPod& pod, const Status& result) {
  mu_.AssertHeld();
  if (result.IsSuccess()) {
    std::erase_if(pods_,
                  [&](const auto& other) { return other.get() == &pod; });
    return;
  }
  // The others get this status if it is about the group. Otherwise, as after
  // the deletion of one pod, they get the message of the plugin in
  // scheduler-plugins. The pod is still in pods_, so RejectAll() counts it
  // among the holders.
  RejectAll(result.plugin() == plugin_
                ? result
                : Status(Code::kUnschedulable, "rejection in Unreserve")
                      .WithPlugin(plugin_));
}

void WaitingGroup::RejectAll(const Status& status) {
  if (state_ != State::kWaiting) return;
  state_ = State::kRejected;
  rejection_ = status;
  const auto pods = std::exchange(pods_, {});
  for (const auto& pod : pods) holders_.insert(pod->pod()->metadata.uid);
  for (const auto& pod : pods) {
    pod->mu_.AssertHeld();
    pod->End(status);
  }
  if (pods.empty()) executor_.Post(freed_);
}

CallbackResult<void> WaitingGroup::AllGaveBack(const Pod& pod) {
  return CallbackResult<void>(
      [this, uid = pod.metadata.uid](Executor::Task go_on) {
        GaveBack(uid, std::move(go_on));
      });
}

void WaitingGroup::GaveBack(const std::string& uid, Executor::Task go_on) {
  std::vector<Executor::Task> all;
  bool is_last = false;
  {
    MutexLock lock(mu_);
    // A pod that was not rejected with the group is never the last.
    is_last = holders_.erase(uid) == 1 && holders_.empty();
    go_on_.push_back(std::move(go_on));
    if (!holders_.empty()) return;
    all = std::exchange(go_on_, {});
  }
  if (is_last) freed_();
  for (Executor::Task& task : all) executor_.Post(std::move(task));
}

}  // namespace minisched
