#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace minisched {

// Durations in Go's format, which Kubernetes uses: "1h30m", "1.5s", "200ms".
// Follows Go's time.ParseDuration.

// Parses a duration, rounded to nanoseconds. Throws ParseError, also for a
// number without a unit.
std::chrono::nanoseconds ParseDuration(std::string_view text);

// Formats a duration in the largest unit that is not larger than the duration:
// "200ms", "1.5s", "2m". At most three digits follow the point.
std::string FormatDuration(std::chrono::nanoseconds duration);

// Formats a duration as Go's Duration.String() does: "200ms", "1.5s", "2m0s".
std::string FormatGoDuration(std::chrono::nanoseconds duration);

}  // namespace minisched
