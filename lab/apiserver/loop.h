#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "minisched/api/time.h"

namespace minisched::apiserver {

// The one thread on which everything in the server happens, as those parts see
// it that have things to do later. Tests use a FakeLoop.
class Loop {
 public:
  virtual ~Loop() = default;

  // The wall clock.
  virtual Time Now() const = 0;

  // Calls `task` soon, after what is running now. Any thread may call.
  virtual void Post(std::function<void()> task) = 0;

  // Calls `task` once `delay` has passed, unless the loop ends first. On the
  // loop's thread only.
  virtual void After(std::chrono::milliseconds delay,
                     std::function<void()> task) = 0;
};

}  // namespace minisched::apiserver
