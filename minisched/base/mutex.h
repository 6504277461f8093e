#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

// Clang's thread-safety annotations. With them, which lock guards what is part
// of the type, and `clang -Wthread-safety` proves it at compile time; other
// compilers see nothing.
// See https://clang.llvm.org/docs/ThreadSafetyAnalysis.html
#if defined(__clang__)
#define MINISCHED_ANNOTATE(x) __attribute__((x))
#else
#define MINISCHED_ANNOTATE(x)
#endif

// On data: only touched while `mu` is held.
#define GUARDED_BY(mu) MINISCHED_ANNOTATE(guarded_by(mu))
// On a function: the caller holds `mu`.
#define REQUIRES(...) MINISCHED_ANNOTATE(requires_capability(__VA_ARGS__))
// On a function: the caller does not hold `mu`; the function will take it.
#define EXCLUDES(...) MINISCHED_ANNOTATE(locks_excluded(__VA_ARGS__))

namespace minisched {

// std::mutex, annotated.
class MINISCHED_ANNOTATE(capability("mutex")) Mutex {
 public:
  void lock() MINISCHED_ANNOTATE(acquire_capability()) { mu_.lock(); }
  void unlock() MINISCHED_ANNOTATE(release_capability()) { mu_.unlock(); }

 private:
  std::mutex mu_;
};

// Holds a Mutex for a scope.
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

// A condition variable for Mutex. Wake-ups may be spurious: wait in a loop that
// looks at the condition, where the analysis can see that the lock is held.
class CondVar {
 public:
  void Wait(Mutex& mu) REQUIRES(mu) { cv_.wait(mu); }

  // Returns when notified, at the deadline, or, at the latest, when `stop` is
  // asked to stop.
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
