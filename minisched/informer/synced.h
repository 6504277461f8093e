#pragma once

#include <stop_token>

#include "minisched/base/mutex.h"

namespace minisched {

// A flag that is set once and can be waited for. Thread-safe.
class Synced {
 public:
  void Set() EXCLUDES(mu_);
  bool Get() const EXCLUDES(mu_);
  // Blocks until the flag is set. Returns false if `stop` asked to stop first.
  bool Wait(const std::stop_token& stop) const EXCLUDES(mu_);

 private:
  mutable Mutex mu_;
  mutable CondVar changed_;
  bool set_ GUARDED_BY(mu_) = false;
};

}  // namespace minisched
