// Points in time as Kubernetes objects carry them: RFC 3339 text.
// Follows apimachinery pkg/apis/meta/v1/time.go and micro_time.go.

#pragma once

#include <chrono>
#include <compare>
#include <string>
#include <string_view>

namespace minisched {

// UTC, as fine as the finest that Kubernetes keeps (metav1.MicroTime).
using Time = std::chrono::sys_time<std::chrono::microseconds>;

// A time that objects carry with its microseconds: metav1.MicroTime.
struct MicroTime {
  Time time;

  auto operator<=>(const MicroTime&) const = default;
};

// Reads a metav1.Time or MicroTime: "2026-11-21T10:00:00Z", with a fraction of
// a second ("10:00:00.25Z"; what is below a microsecond is dropped) or an
// offset from UTC ("10:00:00+01:00"). Throws ParseError.
Time ParseTime(std::string_view text);

// In whole seconds, rounded down, as metav1.Time prints:
// "2026-11-21T10:00:00Z".
// REQUIRES for both: the years 0 to 9999.
std::string FormatTime(Time time);

// With six digits for the microseconds, as metav1.MicroTime prints:
// "2026-11-21T10:00:00.250000Z".
std::string FormatMicroTime(Time time);

}  // namespace minisched
