#include "framework/pods_in_pre_bind.h"

#include <utility>

namespace minisched {

bool PodsInPreBind::CancelPod(const std::string& uid, const std::string& cause,
                              Executor::Task gone) {
  std::stop_source stop(std::nostopstate);
  {
    MutexLock lock(mu_);
    const auto found = pods_.find(uid);
    if (found == pods_.end()) return false;
    PodInPreBind& pod = *found->second;
    if (pod.prebound_) return false;
    if (!pod.cause_) pod.cause_ = cause;
    pod.gone_.push_back(std::move(gone));
    stop = pod.stop_;
  }
  stop.request_stop();  // without the lock: callbacks run here
  return true;
}

PodInPreBind::PodInPreBind(PodsInPreBind& all, std::string uid,
                           const std::stop_token& stop)
    : all_(all),
      uid_(std::move(uid)),
      on_stop_(stop, [this] { stop_.request_stop(); }) {
  MutexLock lock(all_.mu_);
  all_.pods_[uid_] = this;
}

PodInPreBind::~PodInPreBind() {
  std::vector<Executor::Task> gone;
  {
    MutexLock lock(all_.mu_);
    all_.pods_.erase(uid_);
    gone = std::move(gone_);
  }
  for (const Executor::Task& task : gone) task();
}

std::optional<std::string> PodInPreBind::MarkPrebound() {
  MutexLock lock(all_.mu_);
  prebound_ = !cause_;
  return cause_;
}

}  // namespace minisched
