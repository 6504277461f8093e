#include "minisched/base/backoff.h"

#include <algorithm>
#include <random>

#include "minisched/base/random.h"

namespace minisched {

Backoff::Backoff(const Options& options)
    : options_(options), current_(options.initial) {}

Backoff::Duration Backoff::Next() {
  const double base = static_cast<double>(current_.count());
  const double longest = static_cast<double>(options_.max.count());
  current_ = Duration(
      static_cast<Duration::rep>(std::min(base * options_.factor, longest)));
  std::uniform_real_distribution<double> spread(1, 1 + options_.jitter);
  return Duration(static_cast<Duration::rep>(base * spread(ThreadRandom())));
}

}  // namespace minisched
