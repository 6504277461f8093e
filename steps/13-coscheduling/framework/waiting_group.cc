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
  // Other reasons, such as the deletion of one pod, don't apply to the others.
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
  unfinished_ = pods.size();
  for (const auto& pod : pods) {
    pod->mu_.AssertHeld();
    pod->End(status);
  }
  if (pods.empty()) PostRejection();
}

bool WaitingGroup::Finish(GiveBack give_back) {
  mu_.AssertHeld();
  if (state_ != State::kRejected) return false;
  give_backs_.push_back(std::move(give_back));
  if (--unfinished_ == 0) PostRejection();
  return true;
}

void WaitingGroup::PostRejection() {
  executor_.Post([&executor = executor_, freed = freed_,
                  give_backs = std::exchange(give_backs_, {})] {
    std::vector<Executor::Task> rest;
    for (const auto& give_back : give_backs) rest.push_back(give_back());
    freed();
    for (Executor::Task& then : rest) {
      if (then) executor.Post(std::move(then));
    }
  });
}

}  // namespace minisched
