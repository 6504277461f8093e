#include "minisched/api/duration.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

#include "minisched/api/parse_error.h"

namespace minisched {
namespace {

using std::chrono::nanoseconds;

// From small to large; "ms" must come before "m".
constexpr std::array<std::pair<std::string_view, double>, 7> kUnits = {
    {{"ns", 1},
     {"µs", 1e3},
     {"us", 1e3},
     {"ms", 1e6},
     {"s", 1e9},
     {"m", 60e9},
     {"h", 3600e9}}};

[[noreturn]] void Fail(std::string_view text) {
  throw ParseError(
      "invalid duration " + Quoted(text) +
      ": expected a number with a unit, such as 200ms, 1.5s or 2m");
}

// Removes a number and its unit from the front of `rest`. Returns nanoseconds.
double TakePart(std::string_view text, std::string_view& rest) {
  // std::from_chars would also accept signs, "inf" and exponents.
  std::size_t length = 0;
  while (length < rest.size() &&
         (std::isdigit(static_cast<unsigned char>(rest[length])) != 0 ||
          rest[length] == '.')) {
    ++length;
  }
  double number = 0;
  const auto [end, error] =
      std::from_chars(rest.data(), rest.data() + length, number);
  if (error != std::errc() || end != rest.data() + length) Fail(text);
  rest.remove_prefix(length);
  for (const auto& [unit, scale] : kUnits) {
    if (!rest.starts_with(unit)) continue;
    rest.remove_prefix(unit.size());
    return number * scale;
  }
  Fail(text);
}

// Formats a number with at most `digits` digits, 1 or more, after the point.
std::string FormatDecimal(double number, int digits) {
  std::string text = fmt::format("{:.{}f}", number, digits);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace

nanoseconds ParseDuration(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest == "0") return nanoseconds(0);
  if (rest.empty()) Fail(text);
  double total = 0;
  while (!rest.empty()) total += TakePart(text, rest);
  constexpr auto kMax =
      static_cast<double>(std::numeric_limits<std::int64_t>::max());
  if (total >= kMax) Fail(text);
  const nanoseconds duration(std::llround(total));
  return negative ? -duration : duration;
}

std::string FormatDuration(nanoseconds duration) {
  const auto total = static_cast<double>(duration.count());
  auto [name, scale] = kUnits.front();
  for (const auto& unit : kUnits) {
    if (std::abs(total) >= unit.second) std::tie(name, scale) = unit;
  }
  if (total == 0) return "0s";
  return FormatDecimal(total / scale, 3).append(name);
}

std::string FormatGoDuration(nanoseconds duration) {
  using std::chrono::abs;
  if (duration == nanoseconds::zero()) return "0s";
  const std::string sign = duration < nanoseconds::zero() ? "-" : "";
  // The smallest duration has no absolute value, but its parts have.
  const auto h = std::chrono::duration_cast<std::chrono::hours>(duration);
  const auto m = std::chrono::duration_cast<std::chrono::minutes>(duration - h);
  // Nanoseconds below a minute are exact in a double.
  const auto rest = static_cast<double>(abs(duration - h - m).count());
  const auto in = [&](double unit) { return FormatDecimal(rest / unit, 9); };
  if (h.count() != 0) {
    return fmt::format("{}{}h{}m{}s", sign, abs(h).count(), abs(m).count(),
                       in(1e9));
  }
  if (m.count() != 0) {
    return fmt::format("{}{}m{}s", sign, abs(m).count(), in(1e9));
  }
  if (rest < 1e3) return sign + in(1) + "ns";
  if (rest < 1e6) return sign + in(1e3) + "µs";
  if (rest < 1e9) return sign + in(1e6) + "ms";
  return sign + in(1e9) + "s";
}

}  // namespace minisched
