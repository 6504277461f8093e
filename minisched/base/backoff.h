#pragma once

#include <chrono>

namespace minisched {

// How long to wait before trying again: longer each time, and never quite the
// same, so that clients that lost a server together don't come back together.
// Follows apimachinery's wait.Backoff with jitter. Not thread-safe.
class Backoff {
 public:
  using Duration = std::chrono::milliseconds;

  struct Options {
    Duration initial{800};
    Duration max{30'000};
    double factor = 2;
    // Each wait is drawn between its length and (1 + jitter) times that.
    double jitter = 1;
  };

  explicit Backoff(const Options& options);

  // The next wait: at least `initial`, at most `max` times (1 + jitter).
  Duration Next();

  // After a success: start small again.
  void Reset() { current_ = options_.initial; }

 private:
  Options options_;
  Duration current_;
};

}  // namespace minisched
