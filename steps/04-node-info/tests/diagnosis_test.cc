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

// The message has the plugin's reason once, without a count.
TEST(FitErrorTest, NodesFailedPreFilterPlugin) {
  Diagnosis diagnosis = MakeDiagnosis({{"node-1", Rejected("too hot")}});
  diagnosis.node_to_status.SetAbsentNodesStatus(Rejected("never"));
  diagnosis.pre_filter_message = "Node(s) failed PreFilter plugin False";
  EXPECT_EQ(FitError(3, diagnosis),
            "0/3 nodes are available: Node(s) failed PreFilter plugin False.");
}

TEST(FitErrorTest, CountsAbsentNodes) {
  Diagnosis diagnosis = MakeDiagnosis(
      {{"node-1", Rejected("too hot")}, {"node-2", Rejected("too hot")}});
  diagnosis.node_to_status.SetAbsentNodesStatus(Rejected("not yours"),
                                                {"node-1", "node-2"});
  EXPECT_EQ(FitError(5, diagnosis),
            "0/5 nodes are available: 2 too hot, 3 not yours.");
}

TEST(FitErrorTest, AddsAbsentNodesToOthersWithTheSameReason) {
  Diagnosis diagnosis = MakeDiagnosis({{"node-1", Rejected("too hot")}});
  diagnosis.node_to_status.SetAbsentNodesStatus(Rejected("too hot"),
                                                {"node-1"});
  EXPECT_EQ(FitError(3, diagnosis), "0/3 nodes are available: 3 too hot.");
}

TEST(FitErrorTest, OmitsTheAbsentNodesReasonIfNoNodeIsAbsent) {
  Diagnosis diagnosis = MakeDiagnosis({{"node-1", Rejected("too hot")}});
  diagnosis.node_to_status.SetAbsentNodesStatus(Rejected("not yours"),
                                                {"node-1"});
  EXPECT_EQ(FitError(1, diagnosis), "0/1 nodes are available: 1 too hot.");
}

TEST(NodeToStatusTest, FindsTheStatusOfANode) {
  NodeToStatus statuses;
  statuses.Set("node-1", Rejected("too hot"));
  ASSERT_NE(statuses.Find("node-1"), nullptr);
  EXPECT_EQ(statuses.Find("node-1")->Message(), "too hot");
  EXPECT_EQ(statuses.Find("node-2"), nullptr);
}

TEST(NodeToStatusTest, FindsTheStatusOfAbsentNodes) {
  NodeToStatus statuses;
  EXPECT_TRUE(statuses.absent_nodes_status().IsSuccess());
  statuses.Set("node-1", Rejected("too hot"));
  statuses.SetAbsentNodesStatus(Rejected("not yours"), {"node-1", "node-2"});
  EXPECT_EQ(statuses.Find("node-1")->Message(), "too hot");
  EXPECT_EQ(statuses.Find("node-2"), nullptr);
  ASSERT_NE(statuses.Find("node-3"), nullptr);
  EXPECT_EQ(statuses.Find("node-3")->Message(), "not yours");
  EXPECT_EQ(statuses.size(), 1);
}

}  // namespace
}  // namespace minisched
