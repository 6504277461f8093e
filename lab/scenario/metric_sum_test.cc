#include "lab/scenario/metric_sum.h"

#include <gtest/gtest.h>

namespace minisched::scenario {
namespace {

const std::vector<Sample>& Incoming() {
  static const std::vector<Sample> samples = {
      {"incoming_total", {{"event", "Failure"}, {"queue", "backoff"}}, 2},
      {"incoming_total", {{"event", "Failure"}, {"queue", "gated"}}, 3},
      {"incoming_total", {{"event", "PodAdd"}, {"queue", "active"}}, 10},
      {"incoming_total", {}, 100},
      {"pending", {{"queue", "active"}}, 1}};
  return samples;
}

TEST(MetricSumTest, AddsUpTheSeriesWithTheLabels) {
  const auto sum = [](const MetricExpectation& expected) {
    return SumSamples(expected, Incoming()).value;
  };
  EXPECT_EQ(sum({"incoming_total"}), 115);
  EXPECT_EQ(sum({"incoming_total", {{"event", "Failure"}}}), 5);
  EXPECT_EQ(sum({"incoming_total", {{"event", "*"}}}), 15);
  EXPECT_EQ(sum({"incoming_total", {{"event", "Failure"}, {"queue", "g?ted"}}}),
            3);
  EXPECT_EQ(sum({"incoming_total", {{"zone", "*"}}}), 0);
  EXPECT_EQ(sum({"incoming"}), 0);
}

TEST(MetricSumTest, ListsTheSeries) {
  EXPECT_EQ(SumSamples({"incoming_total", {{"event", "F*"}}}, Incoming()).text,
            R"(5: 2 {event="Failure",queue="backoff"}, 3 {event="Failure",)"
            R"(queue="gated"})");
  EXPECT_EQ(SumSamples({"a"}, {{"a", {}, 1'234'567}, {"a", {}, 0.5}}).text,
            "1234567.5: 1234567 {}, 0.5 {}");
  EXPECT_EQ(SumSamples({"a"}, Incoming()).text,
            "0: the scheduler has no such series");
  EXPECT_EQ(SumSamples({"a"}, std::vector<Sample>(7, {"a", {}, 1})).text,
            "7: 1 {}, 1 {}, 1 {}, 1 {}, 1 {}, …");
}

TEST(MetricSumTest, SubtractsCountersOnly) {
  std::vector<Sample> samples = {{"a_total", {{"x", "1"}}, 5},
                                 {"a_total", {{"x", "2"}}, 5},
                                 {"a_total", {{"x", "3"}}, 1},
                                 {"gauge", {}, 5}};
  SubtractCounters({{"a_total", {{"x", "1"}}, 3},
                    {"a_total", {{"x", "3"}}, 3},
                    {"gauge", {}, 3}},
                   samples);
  EXPECT_EQ(samples[0].value, 2);
  EXPECT_EQ(samples[1].value, 5);
  EXPECT_EQ(samples[2].value, 1);  // The program was restarted.
  EXPECT_EQ(samples[3].value, 5);
}

}  // namespace
}  // namespace minisched::scenario
