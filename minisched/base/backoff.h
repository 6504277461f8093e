#pragma once

#include <chrono>

namespace minisched {

// Computes how long to wait before the next try: longer each time, with random
// jitter, so that clients that lost a server together don't return together.
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

  // Returns the next wait, from `initial` to `max` times (1 + jitter).
  Duration Next();

  // Makes the next wait `initial` again. For use after a success.
  void Reset() { current_ = options_.initial; }

 private:
  Options options_;
  Duration current_;
};

}  // namespace minisched
