#include "framework/diagnosis.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace minisched {
namespace {

Diagnosis MakeDiagnosis(const std::map<std::string, Status>& statuses) {
  Diagnosis diagnosis;
  for (const auto& [node, status] : statuses) {
    diagnosis.node_to_status.Set(node, status);
  }
  return diagnosis;
}

Status Rejected(const std::string& reason) {
  return {Code::kUnschedulableAndUnresolvable, reason};
}

TEST(FitErrorTest, CountsEachReason) {
  EXPECT_EQ(FitError(3, MakeDiagnosis(
                            {{"node-1", Rejected("too hot")},
                             {"node-2", Rejected("node(s) were unschedulable")},
                             {"node-3", Rejected("too hot")}})),
            "0/3 nodes are available: 1 node(s) were unschedulable, 2 too "
            "hot.");
}

TEST(FitErrorTest, CountsSeveralReasonsOfANode) {
  const Status two_reasons(Code::kUnschedulable,
                           std::vector<std::string>{"too small", "too hot"});
  EXPECT_EQ(FitError(2, MakeDiagnosis({{"node-1", two_reasons},
                                       {"node-2", Rejected("too hot")}})),
            "0/2 nodes are available: 1 too small, 2 too hot.");
}

TEST(FitErrorTest, EndsAtTheColonWithoutReasons) {
  EXPECT_EQ(FitError(2, {}), "0/2 nodes are available:");
}

// As upstream does: "10 …" comes before "2 …".
TEST(FitErrorTest, SortsCountsAsTexts) {
  Diagnosis diagnosis;
  for (int i = 0; i < 12; ++i) {
    diagnosis.node_to_status.Set("node-" + std::to_string(i),
                                 Rejected(i < 10 ? "too small" : "too hot"));
  }
  EXPECT_EQ(FitError(12, diagnosis),
            "0/12 nodes are available: 10 too small, 2 too hot.");
}

}  // namespace
}  // namespace minisched
