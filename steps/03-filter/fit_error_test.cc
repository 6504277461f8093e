#include "fit_error.h"

#include <gtest/gtest.h>

#include <string>

namespace minisched {
namespace {

Status Rejected(const std::string& reason) {
  return {Code::kUnschedulableAndUnresolvable, reason};
}

TEST(FitErrorTest, CountsEachReason) {
  const FitError error(
      3, {{{"node-1", Rejected("node(s) had untolerated taint(s)")},
           {"node-2", Rejected("node(s) were unschedulable")},
           {"node-3", Rejected("node(s) had untolerated taint(s)")}}});
  EXPECT_STREQ(error.what(),
               "0/3 nodes are available: 1 node(s) were unschedulable, 2 "
               "node(s) had untolerated taint(s).");
}

TEST(FitErrorTest, ANodeMayHaveSeveralReasons) {
  const Status status{Code::kUnschedulable, "too small", "too hot"};
  EXPECT_EQ(status.Message(), "too small, too hot");
  EXPECT_STREQ(
      FitError(2, {{{"node-1", status}, {"node-2", Rejected("too hot")}}})
          .what(),
      "0/2 nodes are available: 1 too small, 2 too hot.");
}

TEST(FitErrorTest, WithoutReasonsItEndsAtTheColon) {
  EXPECT_STREQ(FitError(2, {}).what(), "0/2 nodes are available:");
}

// As upstream, which sorts the texts: "10 …" comes before "2 …".
TEST(FitErrorTest, SortsByText) {
  Diagnosis diagnosis;
  for (int i = 0; i < 12; ++i) {
    diagnosis.node_to_status["node-" + std::to_string(i)] =
        Rejected(i < 10 ? "too small" : "too hot");
  }
  EXPECT_STREQ(FitError(12, diagnosis).what(),
               "0/12 nodes are available: 10 too small, 2 too hot.");
}

}  // namespace
}  // namespace minisched
