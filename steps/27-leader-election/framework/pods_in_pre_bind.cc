#include "framework/pods_in_pre_bind.h"

#include <fmt/format.h>

#include <utility>

namespace minisched {

bool PodsInPreBind::CancelPod(const std::string& uid, const std::string& cause,
                              Executor::Task gone) {
  std::stop_source stop(std::nostopstate);
  {
    MutexLock lock(mu_);
    const auto found = pods_.find(uid);
    if (found == pods_.end()) return false;
    Attempt& attempt = *found->second;
    if (!attempt.cause) attempt.cause = cause;
    attempt.gone.push_back(std::move(gone));
    stop = attempt.stop;  // the attempt may end before the next line
  }
  stop.request_stop();  // without the lock, because callbacks run here
  return true;
}

PodInPreBind::PodInPreBind(PodsInPreBind& all, std::string uid,
                           const std::stop_token& stop)
    : all_(all), uid_(std::move(uid)), on_stop_(stop, [this] {
        std::stop_source source = attempt_.stop;
        source.request_stop();
      }) {
  MutexLock lock(all_.mu_);
  all_.pods_[uid_] = &attempt_;
}

PodInPreBind::~PodInPreBind() {
  std::vector<Executor::Task> gone;
  {
    MutexLock lock(all_.mu_);
    Remove();
    gone = std::move(attempt_.gone);
  }
  for (const Executor::Task& task : gone) task();
}

Status PodInPreBind::MarkPrebound(const Status& result) {
  MutexLock lock(all_.mu_);
  if (!attempt_.cause) {
    // A failed pod is about to give back its resources, so it can be cancelled.
    if (result.IsSuccess()) Remove();
    return result;
  }
  if (result.IsSuccess()) return {Code::kError, *attempt_.cause};
  return Status(Code::kError, fmt::format("running PreBind plugin \"{}\": {}",
                                          result.plugin(), *attempt_.cause))
      .WithPlugin(result.plugin());
}

void PodInPreBind::Remove() {
  const auto found = all_.pods_.find(uid_);
  if (found != all_.pods_.end() && found->second == &attempt_) {
    all_.pods_.erase(found);
  }
}

}  // namespace minisched
