#include "minisched/api/duration.h"

#include <gtest/gtest.h>

#include <chrono>

#include "minisched/api/parse_error.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;

TEST(DurationTest, ParsesDurationsOfGo) {
  EXPECT_EQ(ParseDuration("200ms"), 200ms);
  EXPECT_EQ(ParseDuration("1.5s"), 1500ms);
  EXPECT_EQ(ParseDuration("1h30m"), 90min);
  EXPECT_EQ(ParseDuration("-2m"), -2min);
  EXPECT_EQ(ParseDuration("+.5s"), 500ms);
  EXPECT_EQ(ParseDuration("0"), 0s);
  EXPECT_EQ(ParseDuration("3µs4ns"), 3004ns);
}

TEST(DurationTest, RejectsWhatGoRejects) {
  for (const char* text : {"", "-", "3", "s", "1 s", "1e3s", "1.2.3s", "3d",
                           "inf s", "300000000h", ".", "1s-1s"}) {
    EXPECT_THROW(ParseDuration(text), ParseError) << text;
  }
}

TEST(DurationTest, FormatsInTheLargestUnit) {
  EXPECT_EQ(FormatDuration(0s), "0s");
  EXPECT_EQ(FormatDuration(200ms), "200ms");
  EXPECT_EQ(FormatDuration(1500ms), "1.5s");
  EXPECT_EQ(FormatDuration(90min), "1.5h");
  EXPECT_EQ(FormatDuration(10s), "10s");
  EXPECT_EQ(FormatDuration(-2min), "-2m");
}

}  // namespace
}  // namespace minisched
