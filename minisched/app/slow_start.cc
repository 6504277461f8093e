#include "minisched/app/slow_start.h"

#include <utility>

#include "minisched/base/log.h"

namespace minisched {

SlowStart::SlowStart(std::string doing, Clock& clock)
    : doing_(std::move(doing)),
      clock_(clock),
      thread_([this](const std::stop_token& done) { Log(done); }) {}

void SlowStart::WaitsFor(const std::string& what) {
  MutexLock lock(mu_);
  what_ = what;
}

void SlowStart::Log(const std::stop_token& done) {
  for (auto waited = kInterval; clock_.SleepFor(kInterval, done);
       waited += kInterval) {
    MutexLock lock(mu_);
    spdlog::warn("still {} after {} s, waiting for: {}", doing_, waited.count(),
                 what_);
  }
}

}  // namespace minisched
