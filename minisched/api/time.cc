#include "minisched/api/time.h"

#include <algorithm>
#include <cstdio>

#include "minisched/api/parse_error.h"

namespace minisched {
namespace {

namespace chrono = std::chrono;

constexpr std::string_view kDigit = "0123456789";
constexpr std::string_view kSeconds = "0000-00-00T00:00:00";
constexpr std::string_view kOffset = "00:00";

[[noreturn]] void FailTime(std::string_view text, std::string_view what) {
  throw ParseError("cannot parse time " + Quoted(text) + ": " +
                   std::string(what));
}

[[noreturn]] void FailShape(std::string_view text) {
  FailTime(text, "expected RFC 3339, such as \"2026-11-21T10:00:00Z\"");
}

// Whether `text` is `shape`, in which 0 stands for any digit.
bool HasShape(std::string_view text, std::string_view shape) {
  return std::equal(text.begin(), text.end(), shape.begin(), shape.end(),
                    [](char c, char expected) {
                      return expected == '0' ? kDigit.find(c) != kDigit.npos
                                             : c == expected;
                    });
}

// REQUIRES: digits only.
int Number(std::string_view digits) {
  int number = 0;
  for (const char digit : digits) number = number * 10 + (digit - '0');
  return number;
}

// Takes a leading fraction of a second, such as ".25", off `rest`.
chrono::microseconds TakeFraction(std::string_view* rest) {
  if (!rest->starts_with('.')) return {};
  const auto end = std::min(rest->find_first_not_of(kDigit, 1), rest->size());
  if (end == 1) return {};  // A dot alone is left, and fails as an offset.
  std::string micros(rest->substr(1, end - 1));
  micros.resize(6, '0');
  rest->remove_prefix(end);
  return chrono::microseconds(Number(micros));
}

// "Z", or how far local time is ahead of UTC: "+01:00".
chrono::minutes ParseOffset(std::string_view offset, std::string_view text) {
  if (offset == "Z") return {};
  const bool behind = offset.starts_with('-');
  if (!behind && !offset.starts_with('+')) FailShape(text);
  offset.remove_prefix(1);
  if (!HasShape(offset, kOffset)) FailShape(text);
  const int hours = Number(offset.substr(0, 2));
  const int minutes = Number(offset.substr(3, 2));
  if (hours > 23 || minutes > 59) FailTime(text, "the offset is out of range");
  const chrono::minutes ahead(hours * 60 + minutes);
  return behind ? -ahead : ahead;
}

// "2026-11-21T10:00:00".
std::string FormatSeconds(Time time) {
  const auto day = chrono::floor<chrono::days>(time);
  const chrono::year_month_day date(day);
  const chrono::hh_mm_ss clock(chrono::floor<chrono::seconds>(time - day));
  char text[64];
  std::snprintf(text, sizeof(text), "%04d-%02u-%02uT%02d:%02d:%02d",
                static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text;
}

}  // namespace

Time ParseTime(std::string_view text) {
  if (!HasShape(text.substr(0, kSeconds.size()), kSeconds)) FailShape(text);
  const auto number = [text](size_t position, size_t count) {
    return Number(text.substr(position, count));
  };
  const auto date = chrono::year(number(0, 4)) / number(5, 2) / number(8, 2);
  const int hour = number(11, 2);
  const int minute = number(14, 2);
  const int second = number(17, 2);
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) {
    FailTime(text, "no such date or time of day");
  }

  std::string_view rest = text.substr(kSeconds.size());
  const auto fraction = TakeFraction(&rest);
  const auto offset = ParseOffset(rest, text);
  return chrono::sys_days{date} + chrono::hours(hour) +
         chrono::minutes(minute) + chrono::seconds(second) + fraction - offset;
}

std::string FormatTime(Time time) { return FormatSeconds(time) + "Z"; }

std::string FormatMicroTime(Time time) {
  const auto micros = time - chrono::floor<chrono::seconds>(time);
  std::string digits = std::to_string(micros.count());
  digits.insert(0, 6 - digits.size(), '0');
  return FormatSeconds(time) + "." + digits + "Z";
}

}  // namespace minisched
