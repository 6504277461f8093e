#include "minisched/informer/handler_thread.h"

#include <exception>
#include <utility>

#include "minisched/base/log.h"

namespace minisched {

HandlerThread::HandlerThread(std::string name)
    : name_(std::move(name)), thread_([this] { Run(); }) {}

HandlerThread::~HandlerThread() { Stop(); }

void HandlerThread::Post(std::function<void()> call) {
  MutexLock lock(mu_);
  if (stopped_) return;
  calls_.push_back(std::move(call));
  changed_.NotifyOne();
}

void HandlerThread::Stop() {
  // Destroyed without the lock, because calls may hold many objects.
  std::deque<std::function<void()>> dropped;
  MutexLock lock(mu_);
  stopped_ = true;
  dropped.swap(calls_);
  changed_.NotifyOne();
}

void HandlerThread::Run() {
  while (true) {
    std::function<void()> call;
    {
      MutexLock lock(mu_);
      while (calls_.empty() && !stopped_) changed_.Wait(mu_);
      if (stopped_) return;
      call = std::move(calls_.front());
      calls_.pop_front();
    }
    try {
      call();
    } catch (const std::exception& error) {
      spdlog::error("an event handler of {} failed: {}", name_, error.what());
    } catch (...) {
      spdlog::error("an event handler of {} failed", name_);
    }
  }
}

}  // namespace minisched
