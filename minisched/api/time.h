// Points in time as Kubernetes objects hold them: RFC 3339 text.
// Follows apimachinery pkg/apis/meta/v1/time.go and micro_time.go.

#pragma once

#include <chrono>
#include <compare>
#include <string>
#include <string_view>

namespace minisched {

// A time in UTC, in microseconds as metav1.MicroTime.
using Time = std::chrono::sys_time<std::chrono::microseconds>;

// A time that is written with its microseconds: metav1.MicroTime.
struct MicroTime {
  Time time;

  auto operator<=>(const MicroTime&) const = default;
};

// Parses a metav1.Time or MicroTime: "2026-11-21T10:00:00Z". The text may have
// a fraction ("10:00:00.25Z"), of at most nine digits and truncated to
// microseconds, and an offset ("10:00:00+01:00"). The year in UTC must be from
// 0 to 9999. Throws ParseError.
Time ParseTime(std::string_view text);

// Returns `time` as metav1.Time prints it, in seconds, rounded down:
// "2026-11-21T10:00:00Z".
// REQUIRES: a year from 0 to 9999.
std::string FormatTime(Time time);

// Returns `time` as metav1.MicroTime prints it, with six digits for the
// microseconds: "2026-11-21T10:00:00.250000Z".
// REQUIRES: a year from 0 to 9999.
std::string FormatMicroTime(Time time);

}  // namespace minisched
