#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"

namespace minisched {

// Logs what the start of a program waits for: a warning every five seconds
// while the object exists. Thread-safe.
class SlowStart {
 public:
  static constexpr std::chrono::seconds kInterval{5};

  // `doing` is the beginning of the warnings: "connecting to https://h:6443".
  // `clock` must outlive the object.
  SlowStart(std::string doing, Clock& clock);

  SlowStart(const SlowStart&) = delete;
  SlowStart& operator=(const SlowStart&) = delete;

  // Sets what the program waits for now: "a connection".
  void WaitsFor(const std::string& what) EXCLUDES(mu_);

 private:
  void Log(const std::stop_token& done) EXCLUDES(mu_);

  const std::string doing_;
  Clock& clock_;
  Mutex mu_;
  std::string what_ GUARDED_BY(mu_) = "its turn";
  std::jthread thread_;  // last: it uses the others
};

}  // namespace minisched
