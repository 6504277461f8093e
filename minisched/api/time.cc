#include "minisched/api/time.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "minisched/api/parse_error.h"

namespace minisched {
namespace {

[[noreturn]] void FailTime(std::string_view text, std::string_view what) {
  throw ParseError("cannot parse time " + Quoted(text) + ": " +
                   std::string(what));
}

// True if the text has a digit for each 'd' of the form, and is like the form
// elsewhere.
bool IsLike(std::string_view text, std::string_view form) {
  return std::ranges::equal(text, form, [](char c, char in_form) {
    return in_form == 'd' ? '0' <= c && c <= '9' : c == in_form;
  });
}

// Returns the number that the text has at a place. REQUIRES: digits there.
int NumberAt(std::string_view text, std::size_t at, std::size_t digits = 2) {
  int number = 0;
  for (const char c : text.substr(at, digits)) number = 10 * number + (c - '0');
  return number;
}

// Removes a fraction of a second from the start of `text`, if there is one, and
// returns it. nullopt: it has no digits or more than nine.
std::optional<std::chrono::microseconds> TakeFraction(std::string_view& text) {
  using std::chrono::microseconds;
  if (!text.starts_with('.')) return microseconds(0);
  text.remove_prefix(1);
  const auto digits =
      std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits < 1 || digits > 9) return std::nullopt;
  std::string micros(text.substr(0, digits));
  micros.resize(6, '0');
  text.remove_prefix(digits);
  return microseconds(NumberAt(micros, 0, 6));
}

// Returns the offset from UTC that is the whole text.
std::optional<std::chrono::minutes> ParseOffset(std::string_view text) {
  if (text == "Z") return std::chrono::minutes(0);
  if (!IsLike(text, "+dd:dd") && !IsLike(text, "-dd:dd")) return std::nullopt;
  const int hours = NumberAt(text, 1);
  const int minutes = NumberAt(text, 4);
  if (hours > 23 || minutes > 59) return std::nullopt;
  const std::chrono::minutes offset(60 * hours + minutes);
  return text[0] == '-' ? -offset : offset;
}

}  // namespace

// Neither std::regex nor a stream: they would take most of the time in which a
// reader reads a small record.
Time ParseTime(std::string_view text) {
  namespace chrono = std::chrono;
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:dd";
  const std::string_view whole = text.substr(0, kForm.size());
  std::string_view rest = text.substr(whole.size());
  const auto fraction = TakeFraction(rest);
  const auto offset = ParseOffset(rest);
  if (!IsLike(whole, kForm) || !fraction || !offset) {
    FailTime(text, "expected RFC 3339, such as \"2026-11-21T10:00:00Z\"");
  }
  const chrono::year_month_day date(chrono::year(NumberAt(whole, 0, 4)),
                                    chrono::month(NumberAt(whole, 5)),
                                    chrono::day(NumberAt(whole, 8)));
  const chrono::hours hours(NumberAt(whole, 11));
  const chrono::minutes minutes(NumberAt(whole, 14));
  const chrono::seconds seconds(NumberAt(whole, 17));
  if (!date.ok() || hours.count() > 23 || minutes.count() > 59 ||
      seconds.count() > 59) {
    FailTime(text, "no such date or time of day");
  }
  const auto time =
      chrono::sys_days(date) + hours + minutes + seconds - *offset;
  // An offset can lead to a year that has no text form.
  constexpr chrono::sys_seconds kFirst =
      chrono::sys_days(chrono::year(0) / 1 / 1);
  constexpr chrono::sys_seconds kEnd =
      chrono::sys_days(chrono::year(10000) / 1 / 1);
  if (time < kFirst || time >= kEnd) {
    FailTime(text, "the year in UTC must be from 0 to 9999");
  }
  return time + *fraction;
}

std::string FormatTime(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(
      std::chrono::floor<std::chrono::seconds>(time - day));
  return fmt::format(
      "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string FormatMicroTime(Time time) {
  std::string text = FormatTime(time);
  const auto micros = time - std::chrono::floor<std::chrono::seconds>(time);
  return text.insert(text.size() - 1, fmt::format(".{:06}", micros.count()));
}

}  // namespace minisched
