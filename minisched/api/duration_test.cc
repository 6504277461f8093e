#include "minisched/api/duration.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string_view>

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

// With the cases of TestDurationString of Go's package time.
TEST(DurationTest, FormatsDurationsAsGoDoes) {
  struct Case {
    std::chrono::nanoseconds duration;
    std::string_view text;
  };
  constexpr Case kCases[] = {
      {0s, "0s"},
      {1ns, "1ns"},
      {100ns, "100ns"},
      {999ns, "999ns"},
      {1us, "1µs"},
      {1100ns, "1.1µs"},
      {999'999ns, "999.999µs"},
      {1ms, "1ms"},
      {300ms, "300ms"},
      {2200us, "2.2ms"},
      {1'000'001ns, "1.000001ms"},
      {1s, "1s"},
      {1500ms, "1.5s"},
      {3300ms, "3.3s"},
      {1'000'000'001ns, "1.000000001s"},
      {1min - 1ns, "59.999999999s"},
      {1min, "1m0s"},
      {1min + 1ns, "1m0.000000001s"},
      {15min, "15m0s"},
      {20min + 20s, "20m20s"},
      {4min + 5s, "4m5s"},
      {4min + 5001ms, "4m5.001s"},
      {1h, "1h0m0s"},
      {1h + 20us, "1h0m0.00002s"},
      {5h + 6min + 7001ms, "5h6m7.001s"},
      {8min + 1ns, "8m0.000000001s"},
      {-1ns, "-1ns"},
      {-30us, "-30µs"},
      {-2s, "-2s"},
      {-90s, "-1m30s"},
      {std::chrono::nanoseconds::max(), "2562047h47m16.854775807s"},
      {std::chrono::nanoseconds::min(), "-2562047h47m16.854775808s"}};
  for (const Case& c : kCases) {
    EXPECT_EQ(FormatGoDuration(c.duration), c.text);
  }
}

}  // namespace
}  // namespace minisched
