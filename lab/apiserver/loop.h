#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "minisched/api/time.h"

namespace minisched::apiserver {

// The event loop of the server. While the server runs, all its work runs as
// tasks of the loop, on one thread. Tests use a FakeLoop.
class Loop {
 public:
  virtual ~Loop() = default;

  // Returns the time of the wall clock.
  virtual Time Now() const = 0;

  // Calls `task` soon, after the task that is running now. Any thread may call
  // Post().
  virtual void Post(std::function<void()> task) = 0;

  // Calls `task` when `delay` has passed, unless the loop ends first. Call
  // After() on the loop's thread only.
  virtual void After(std::chrono::milliseconds delay,
                     std::function<void()> task) = 0;
};

}  // namespace minisched::apiserver
