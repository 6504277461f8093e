#pragma once

#include <functional>
#include <string>
#include <thread>

#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"

namespace minisched::explain {

// Prints what the program is doing, if it takes longer than two seconds: at
// most one line every two seconds, and each line once. Thread-safe.
class Progress {
 public:
  // `print` is called on a thread of this object, until the destructor ends.
  using Print = std::function<void(const std::string& line)>;
  Progress(Clock& clock, Print print);

  // Records what the program begins to do, such as "reading the dump".
  void Begin(std::string what) EXCLUDES(mu_);

 private:
  void Run(const std::stop_token& stop);
  // Returns what the program is doing, or "" if `printed` already says so.
  std::string Next(const std::string& printed) const EXCLUDES(mu_);

  Clock& clock_;
  const Print print_;
  mutable Mutex mu_;
  std::string what_ GUARDED_BY(mu_);
  std::jthread thread_;  // last: the thread uses the other members
};

}  // namespace minisched::explain
