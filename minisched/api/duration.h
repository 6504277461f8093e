#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace minisched {

// Lengths of time as Kubernetes writes them, which is as Go does: "1h30m",
// "1.5s", "200ms". Follows Go's time.ParseDuration.

// As fine as nanoseconds. Throws ParseError: also for a number without a unit.
std::chrono::nanoseconds ParseDuration(std::string_view text);

// "200ms", "1.5s", "2m": in the largest unit of these that is not above it,
// with what follows the point where there is something.
std::string FormatDuration(std::chrono::nanoseconds duration);

}  // namespace minisched
