#include "plugins/node_number.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/score_testing.h"

namespace minisched {
namespace {

Scores ScoreNumbers(const std::string& pod_name,
                    const std::vector<std::string>& node_names) {
  Pod pod;
  pod.metadata.name = pod_name;
  std::vector<NodeAndPods> nodes;
  for (const std::string& name : node_names) {
    nodes.emplace_back().node.metadata.name = name;
  }
  return RunScore(NodeNumber(), pod, SnapshotOf(nodes));
}

TEST(NodeNumberTest, PrefersNodesWithThePodsDigit) {
  const Scores scores =
      ScoreNumbers("web-7", {"node-17", "node-7", "node-70", "node-8"});
  const std::vector<std::int64_t> expected = {100, 100, 0, 0};
  EXPECT_EQ(scores.raw, expected);
  EXPECT_EQ(scores.normalized, expected);  // no NormalizeScore
}

TEST(NodeNumberTest, ANodeWithoutDigitScoresZero) {
  EXPECT_EQ(ScoreNumbers("web-0", {"0-node", "node-0"}).raw,
            (std::vector<std::int64_t>{0, 100}));
}

TEST(NodeNumberTest, SkipsAPodWithoutDigit) {
  EXPECT_EQ(ScoreNumbers("web", {"node-1"}).pre_score.code(), Code::kSkip);
  EXPECT_EQ(ScoreNumbers("1-web", {"node-1"}).pre_score.code(), Code::kSkip);
  EXPECT_EQ(ScoreNumbers("", {"node-1"}).pre_score.code(), Code::kSkip);
}

}  // namespace
}  // namespace minisched
