#include "lab/scenario/prometheus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "minisched/api/parse_error.h"

namespace minisched::scenario {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// Returns the only sample of a text.
Sample ParseOne(std::string_view text) {
  const std::vector<Sample> samples = ParseSamples(text);
  EXPECT_EQ(samples.size(), 1U);
  return samples.empty() ? Sample() : samples[0];
}

std::string Complaint(std::string_view text) {
  try {
    ParseSamples(text);
  } catch (const ParseError& error) {
    return error.what();
  }
  return "no complaint";
}

TEST(PrometheusTest, ReadsSamplesAndIgnoresComments) {
  const std::vector<Sample> samples = ParseSamples(
      "# HELP pods Pods, \"by\" {queue}.\n"
      "# TYPE pods gauge\n"
      "pods{queue=\"active\"} 3\n"
      "\n"
      "  # a comment\n"
      "pods{queue=\"backoff\",}\t4.5 1700000000000\n"
      "  up 1");
  ASSERT_EQ(samples.size(), 3U);
  EXPECT_EQ(samples[0].name, "pods");
  EXPECT_THAT(samples[0].labels, ElementsAre(Pair("queue", "active")));
  EXPECT_EQ(samples[0].value, 3);
  EXPECT_THAT(samples[1].labels, ElementsAre(Pair("queue", "backoff")));
  EXPECT_EQ(samples[1].value, 4.5);
  EXPECT_EQ(samples[2].name, "up");
  EXPECT_THAT(samples[2].labels, IsEmpty());
  EXPECT_EQ(samples[2].value, 1);
  EXPECT_THAT(ParseSamples(""), IsEmpty());
}

TEST(PrometheusTest, ReadsTheNamesOfAHistogram) {
  const std::vector<Sample> samples = ParseSamples(
      "took_bucket{le=\"0.5\"} 1\n"
      "took_bucket{le=\"+Inf\"} 2\n"
      "took_sum 7e-05\n"
      "took_count 2\n");
  ASSERT_EQ(samples.size(), 4U);
  EXPECT_THAT(samples[1].labels, ElementsAre(Pair("le", "+Inf")));
  EXPECT_EQ(samples[2].name, "took_sum");
  EXPECT_EQ(samples[2].value, 7e-05);
  EXPECT_EQ(samples[3].name, "took_count");
}

TEST(PrometheusTest, AllowsBlanksBetweenTheParts) {
  const Sample sample = ParseOne(" a:b { x = \"1\" , y\t=\"2\" } 5  -6 ");
  EXPECT_EQ(sample.name, "a:b");
  EXPECT_THAT(sample.labels, ElementsAre(Pair("x", "1"), Pair("y", "2")));
  EXPECT_EQ(sample.value, 5);
}

TEST(PrometheusTest, UnescapesLabels) {
  const Sample sample =
      ParseOne(R"(a{path="C:\\new",text="\"x\" {#}, y=\n"} 1)");
  EXPECT_THAT(sample.labels, ElementsAre(Pair("path", "C:\\new"),
                                         Pair("text", "\"x\" {#}, y=\n")));
}

TEST(PrometheusTest, ReadsSpecialValues) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(ParseOne("a +Inf").value, kInfinity);
  EXPECT_EQ(ParseOne("a -Inf").value, -kInfinity);
  EXPECT_TRUE(std::isnan(ParseOne("a NaN").value));
  EXPECT_EQ(ParseOne("a 1.795404429e+09").value, 1795404429);
  EXPECT_EQ(ParseOne("a +3").value, 3);
}

TEST(PrometheusTest, RejectsOtherText) {
  EXPECT_EQ(Complaint("a 1\n\n<html>\n"),
            "line 3: expected a name, found \"<html>\"");
  EXPECT_EQ(Complaint("1a 1"), "line 1: expected a name, found \"1a 1\"");
  EXPECT_EQ(Complaint("a"),
            "line 1: expected a value, found the end of the line");
  EXPECT_EQ(Complaint("a 1x"), "line 1: expected a value, found \"1x\"");
  EXPECT_EQ(Complaint("a 1 b"), "line 1: expected a timestamp, found \"b\"");
  EXPECT_EQ(Complaint("a 1 2 3"),
            "line 1: expected the end of the line, found \"3\"");
  EXPECT_EQ(Complaint("a{x}"), "line 1: expected \"=\", found \"}\"");
  EXPECT_EQ(Complaint("a{x=1} 1"),
            "line 1: expected a quoted value, found \"1} 1\"");
  EXPECT_EQ(Complaint("a{x=\"1\" y=\"2\"} 1"),
            "line 1: expected \",\" or \"}\", found \"y=\\\"2\\\"} 1\"");
  EXPECT_EQ(Complaint("a{x=\"1} 1"),
            "line 1: expected a closing quote, found the end of the line");
  EXPECT_EQ(Complaint("a{x=\"\\t\"} 1"),
            "line 1: expected n, \" or \\ after \\, found \"t\\\"} 1\"");
}

TEST(PrometheusTest, KnowsTheNamesOfMetrics) {
  EXPECT_TRUE(IsMetricName("scheduler_pending_pods"));
  EXPECT_TRUE(IsMetricName("_a:b9"));
  EXPECT_FALSE(IsMetricName(""));
  EXPECT_FALSE(IsMetricName("9a"));
  EXPECT_FALSE(IsMetricName("a{b=\"c\"}"));
}

}  // namespace
}  // namespace minisched::scenario
