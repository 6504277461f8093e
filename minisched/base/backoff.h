#pragma once

#include <chrono>

namespace minisched {

// Computes the wait before the next try. Each wait is longer than the one
// before. Random jitter keeps many clients from retrying at the same moment.
// Follows apimachinery's wait.Backoff with jitter. Not thread-safe.
class Backoff {
 public:
  using Duration = std::chrono::milliseconds;

  struct Options {
    Duration initial{800};
    Duration max{30'000};
    double factor = 2;
    // Each wait is multiplied by a random number between 1 and 1 + jitter.
    double jitter = 1;
  };

  explicit Backoff(const Options& options);

  // Returns the next wait. It is between `initial` and `max` * (1 + jitter).
  Duration Next();

  // Makes the waits start at `initial` again. Call it after a success.
  void Reset() { current_ = options_.initial; }

 private:
  Options options_;
  Duration current_;
};

}  // namespace minisched
