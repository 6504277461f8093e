#include "minisched/base/backoff.h"

#include <algorithm>

#include "minisched/base/random.h"

namespace minisched {

Backoff::Backoff(const Options& options, std::uint64_t seed)
    : options_(options), current_(options.initial), random_(seed) {}

Backoff::Backoff(const Options& options)
    : options_(options), current_(options.initial) {}

Backoff::Duration Backoff::Next() {
  const double base = static_cast<double>(current_.count());
  const double longest = static_cast<double>(options_.max.count());
  current_ = Duration(
      static_cast<Duration::rep>(std::min(base * options_.factor, longest)));
  std::uniform_real_distribution<double> spread(1, 1 + options_.jitter);
  std::mt19937_64& random = random_ ? *random_ : ThreadRandom();
  return Duration(static_cast<Duration::rep>(base * spread(random)));
}

}  // namespace minisched
