#pragma once

#include <cstddef>
#include <memory>
#include <stop_token>

#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"

namespace minisched {

// Counts operations under way, and waits until they have ended. Thread-safe.
class WaitGroup {
  struct End {
    void operator()(WaitGroup* group) const { group->Done(); }
  };

 public:
  // An operation under way. It ends when the token is destroyed.
  using Token = std::unique_ptr<WaitGroup, End>;

  WaitGroup() = default;
  WaitGroup(const WaitGroup&) = delete;
  WaitGroup& operator=(const WaitGroup&) = delete;

  // Begins an operation. The token must not outlive the group.
  Token Begin() EXCLUDES(mu_);

  // Blocks until no operation is under way, but at most until `deadline` of
  // `clock`. Returns false if operations are left at the deadline. REQUIRES: no
  // other thread waits.
  bool WaitUntil(Clock& clock, Clock::TimePoint deadline) EXCLUDES(mu_);

 private:
  void Done() EXCLUDES(mu_);

  Mutex mu_;
  std::size_t under_way_ GUARDED_BY(mu_) = 0;
  std::stop_source none_left_ GUARDED_BY(mu_);  // ends the wait
};

}  // namespace minisched
