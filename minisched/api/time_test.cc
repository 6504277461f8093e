#include "minisched/api/time.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include <chrono>
#include <string>

#include "minisched/api/parse_error.h"

namespace minisched {
namespace {

namespace chrono = std::chrono;
using chrono::microseconds;

// 2026-11-21T10:00:00Z.
const Time kTime =
    chrono::sys_days(chrono::year(2026) / 11 / 21) + chrono::hours(10);

TEST(TimeTest, Parses) {
  const struct {
    std::string text;
    Time time;
  } tests[] = {
      {"1970-01-01T00:00:00Z", Time()},
      {"2026-11-21T10:00:00Z", kTime},
      {"2026-11-21T10:00:00+00:00", kTime},
      {"2026-11-21T11:30:00+01:30", kTime},
      {"2026-11-21T00:00:00-10:00", kTime},
      {"2026-11-22T09:59:00+23:59", kTime},
      {"2026-11-21T10:00:00.5Z", kTime + microseconds(500000)},
      {"2026-11-21T10:00:00.000001Z", kTime + microseconds(1)},
      {"2026-11-21T10:00:00.123456789Z", kTime + microseconds(123456)},
      {"2026-11-21T12:00:00.25+02:00", kTime + microseconds(250000)},
      {"1969-12-31T23:59:59.999999Z", Time(microseconds(-1))},
      {"2024-02-29T00:00:00Z", chrono::sys_days(chrono::year(2024) / 2 / 29)},
      // Go's zero time.
      {"0001-01-01T00:00:00Z", chrono::sys_days(chrono::year(1) / 1 / 1)},
  };
  for (const auto& test : tests) {
    SCOPED_TRACE(test.text);
    EXPECT_EQ(ParseTime(test.text), test.time);
  }
}

TEST(TimeTest, RejectsMalformedText) {
  const std::string tests[] = {
      "",
      "now",
      "2026-11-21",
      "2026-11-21T10:00:00",
      "2026-11-21 10:00:00Z",
      "2026-11-21t10:00:00z",
      " 2026-11-21T10:00:00Z",
      "2026-11-21T10:00:00Z ",
      "26-11-21T10:00:00Z",
      "2026-1-1T10:00:00Z",
      "-026-11-21T10:00:00Z",
      "2026-00-01T10:00:00Z",
      "2026-13-01T10:00:00Z",
      "2026-02-29T10:00:00Z",
      "2026-11-21T24:00:00Z",
      "2026-11-21T10:60:00Z",
      "2026-11-21T10:00:60Z",
      "2026-11-21T10:00:00.Z",
      "2026-11-21T10:00:00,5Z",
      "2026-11-21T10:00:00.5",
      "2026-11-21T10:00:00." + std::string(1000000, '0') + "Z",
      "2026-11-21T10:00:00+0100",
      "2026-11-21T10:00:00+01",
      "2026-11-21T10:00:00+1:00",
      "2026-11-21T10:00:00+24:00",
      "2026-11-21T10:00:00+01:60",
      "2026-11-21T10:00:00 01:00",
      // In UTC, these are in the years -1 and 10000.
      "0000-01-01T00:00:00+00:01",
      "9999-12-31T23:59:59-00:01",
  };
  for (const std::string& text : tests) {
    SCOPED_TRACE(text);
    try {
      ParseTime(text);
      ADD_FAILURE() << "parsed";
    } catch (const ParseError& error) {
      const std::string what = error.what();
      EXPECT_NE(what.find(Quoted(text)), what.npos) << what;
    }
  }
}

TEST(TimeTest, FormatsInUtcInAnyTimeZone) {
  const char* const before = getenv("TZ");
  const std::string zone = before == nullptr ? "" : before;
  setenv("TZ", "EST5EDT", 1);
  tzset();
  EXPECT_EQ(FormatTime(kTime), "2026-11-21T10:00:00Z");
  EXPECT_EQ(FormatMicroTime(kTime), "2026-11-21T10:00:00.000000Z");
  setenv("TZ", zone.c_str(), 1);
  tzset();
}

TEST(TimeTest, Formats) {
  const struct {
    Time time;
    std::string seconds;
    std::string micros;
  } tests[] = {
      {Time(), "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000Z"},
      {kTime, "2026-11-21T10:00:00Z", "2026-11-21T10:00:00.000000Z"},
      {kTime + microseconds(1), "2026-11-21T10:00:00Z",
       "2026-11-21T10:00:00.000001Z"},
      {kTime + microseconds(999999), "2026-11-21T10:00:00Z",
       "2026-11-21T10:00:00.999999Z"},
      {Time(microseconds(-1)), "1969-12-31T23:59:59Z",
       "1969-12-31T23:59:59.999999Z"},
      {chrono::sys_days(chrono::year(0) / 1 / 1), "0000-01-01T00:00:00Z",
       "0000-01-01T00:00:00.000000Z"},
      {chrono::sys_days(chrono::year(10000) / 1 / 1) - microseconds(1),
       "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999999Z"},
  };
  for (const auto& test : tests) {
    SCOPED_TRACE(test.micros);
    EXPECT_EQ(FormatTime(test.time), test.seconds);
    EXPECT_EQ(FormatMicroTime(test.time), test.micros);
    EXPECT_EQ(ParseTime(test.micros), test.time);
  }
}

}  // namespace
}  // namespace minisched
