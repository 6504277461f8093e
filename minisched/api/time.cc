#include "minisched/api/time.h"

#include <date/date.h>

#include <regex>
#include <sstream>

#include "minisched/api/parse_error.h"

namespace minisched {
namespace {

[[noreturn]] void FailTime(std::string_view text, std::string_view what) {
  throw ParseError("cannot parse time " + Quoted(text) + ": " +
                   std::string(what));
}

// RFC 3339 in three parts: date and time of day, fraction of a second, offset.
// date::parse() alone accepts more, such as "2026-1-1" or an offset of
// "+24:00". The fraction is bounded because std::regex recurses for each digit.
const std::regex& Rfc3339() {
  static const auto* const form =
      new std::regex(R"((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?)"
                     R"((Z|[+-](?:[01]\d|2[0-3]):[0-5]\d))");
  return *form;
}

}  // namespace

Time ParseTime(std::string_view text) {
  std::match_results<std::string_view::iterator> parts;
  if (!std::regex_match(text.begin(), text.end(), parts, Rfc3339())) {
    FailTime(text, "expected RFC 3339, such as \"2026-11-21T10:00:00Z\"");
  }
  const std::string offset = parts.str(3);
  std::istringstream in(parts.str(1) + offset);
  std::chrono::sys_seconds seconds;
  in >> date::parse(offset == "Z" ? "%FT%TZ" : "%FT%T%Ez", seconds);
  if (in.fail()) FailTime(text, "no such date or time of day");
  // An offset can lead to a year that has no text form.
  constexpr std::chrono::sys_seconds kFirst =
      std::chrono::sys_days(std::chrono::year(0) / 1 / 1);
  constexpr std::chrono::sys_seconds kEnd =
      std::chrono::sys_days(std::chrono::year(10000) / 1 / 1);
  if (seconds < kFirst || seconds >= kEnd) {
    FailTime(text, "the year in UTC must be from 0 to 9999");
  }
  std::string micros = parts.str(2);
  micros.resize(6, '0');
  return seconds + std::chrono::microseconds(std::stoi(micros));
}

std::string FormatTime(Time time) {
  return date::format("%FT%TZ", std::chrono::floor<std::chrono::seconds>(time));
}

std::string FormatMicroTime(Time time) { return date::format("%FT%TZ", time); }

}  // namespace minisched
