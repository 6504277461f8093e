#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

// Clang's thread-safety annotations: they declare which lock guards which data,
// and `clang -Wthread-safety` checks this. Empty for other compilers.
// See https://clang.llvm.org/docs/ThreadSafetyAnalysis.html
#if defined(__clang__)
#define MINISCHED_ANNOTATE(x) __attribute__((x))
#else
#define MINISCHED_ANNOTATE(x)
#endif

// On data: only accessed while `mu` is held.
#define GUARDED_BY(mu) MINISCHED_ANNOTATE(guarded_by(mu))
// On a function: the caller holds `mu`.
#define REQUIRES(...) MINISCHED_ANNOTATE(requires_capability(__VA_ARGS__))
// On a function: the caller does not hold `mu`, because the function locks it.
#define EXCLUDES(...) MINISCHED_ANNOTATE(locks_excluded(__VA_ARGS__))

namespace minisched {

// A std::mutex with annotations.
class MINISCHED_ANNOTATE(capability("mutex")) Mutex {
 public:
  void lock() MINISCHED_ANNOTATE(acquire_capability()) { mu_.lock(); }
  void unlock() MINISCHED_ANNOTATE(release_capability()) { mu_.unlock(); }

  // Does nothing. Declares to clang's analysis that the caller holds this
  // mutex, for a caller that has locked it under another name.
  void AssertHeld() const MINISCHED_ANNOTATE(assert_capability()) {}

 private:
  std::mutex mu_;
};

// Locks a Mutex while the object exists.
class MINISCHED_ANNOTATE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mu) MINISCHED_ANNOTATE(acquire_capability(mu))
      : mu_(mu) {
    mu_.lock();
  }
  ~MutexLock() MINISCHED_ANNOTATE(release_capability()) { mu_.unlock(); }

  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mu_;
};

// A condition variable for Mutex. Wake-ups may be spurious, so callers wait in
// a loop that checks the condition. There is no predicate parameter because the
// analysis can't see which lock is held inside a lambda.
class CondVar {
 public:
  void Wait(Mutex& mu) REQUIRES(mu) { cv_.wait(mu); }

  // Blocks until notified, or until `stop` asks to stop.
  void Wait(Mutex& mu, std::stop_token stop) REQUIRES(mu) {
    bool first = true;
    cv_.wait(mu, std::move(stop),
             [&first] { return !std::exchange(first, false); });
  }

  // Blocks until notified, until the deadline, or until `stop` asks to stop.
  void WaitUntil(Mutex& mu, std::stop_token stop,
                 std::chrono::steady_clock::time_point deadline) REQUIRES(mu) {
    bool first = true;
    cv_.wait_until(mu, std::move(stop), deadline,
                   [&first] { return !std::exchange(first, false); });
  }

  void NotifyOne() { cv_.notify_one(); }
  void NotifyAll() { cv_.notify_all(); }

 private:
  std::condition_variable_any cv_;
};

}  // namespace minisched
