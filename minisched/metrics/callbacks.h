#pragma once

#include <functional>
#include <list>
#include <memory>
#include <utility>

#include "minisched/base/mutex.h"

namespace minisched {

// Keeps a function registered. When the last copy is destroyed, the function is
// removed. The destructor blocks while the function runs, so it must not be
// called under a lock that the function takes.
using Registration = std::shared_ptr<const void>;

// Functions that other objects register. Must outlive its registrations.
// Thread-safe. The lock is held while a function runs.
template <class Result>
class Callbacks {
 public:
  using Function = std::function<Result()>;

  [[nodiscard]] Registration Add(Function function) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    const auto added = functions_.insert(functions_.end(), std::move(function));
    return {&*added, [this, added](const Function*) {
              MutexLock lock(mu_);
              functions_.erase(added);
            }};
  }

  // Calls `visit` with each function, in the order of their registration.
  template <class Visit>
  void ForEach(const Visit& visit) const EXCLUDES(mu_) {
    MutexLock lock(mu_);
    for (const Function& function : functions_) visit(function);
  }

 private:
  mutable Mutex mu_;
  std::list<Function> functions_ GUARDED_BY(mu_);
};

}  // namespace minisched
