// Tests the scores of TaintToleration. Cases in "Upstream" have the names and
// numbers of upstream's in tainttoleration/taint_toleration_test.go, except
// those of a feature that is disabled in v1.37.
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "plugins/taint_toleration.h"
#include "tests/score_testing.h"

namespace minisched {
namespace {

struct TaintScoreCase {
  const char* name;
  std::vector<Toleration> tolerations;
  std::vector<std::vector<Taint>> nodes;  // the taints of each node
  std::vector<std::int64_t> raw;
  std::vector<std::int64_t> normalized;
};

std::ostream& operator<<(std::ostream& out, const TaintScoreCase& c) {
  return out << c.name;
}

class TaintTolerationScoreTest
    : public ::testing::TestWithParam<TaintScoreCase> {};

TEST_P(TaintTolerationScoreTest, Score) {
  std::vector<NodeAndPods> nodes;
  for (const auto& taints : GetParam().nodes) {
    nodes.emplace_back().node.spec.taints = taints;
  }
  Pod pod;
  pod.spec.tolerations = GetParam().tolerations;
  const Scores scores = RunScore(TaintToleration(), pod, SnapshotOf(nodes));
  EXPECT_EQ(scores.raw, GetParam().raw);
  EXPECT_EQ(scores.normalized, GetParam().normalized);
}

Taint Avoid(const std::string& key, const std::string& value = "",
            const std::string& effect = "PreferNoSchedule") {
  return {.key = key, .value = value, .effect = effect};
}

Toleration Tolerate(const std::string& key, const std::string& value,
                    const std::string& effect = "PreferNoSchedule") {
  return {.key = key, .operation = "Equal", .value = value, .effect = effect};
}

const Taint kArm = Avoid("cpu-type", "arm64");
const Taint kSsd = Avoid("disk-type", "ssd");

INSTANTIATE_TEST_SUITE_P(
    Upstream, TaintTolerationScoreTest,
    ::testing::Values(
        TaintScoreCase{"node with taints tolerated by the pod, gets a higher "
                       "score than those node with intolerable taints",
                       {Tolerate("foo", "bar")},
                       {{Avoid("foo", "bar")}, {Avoid("foo", "blah")}},
                       {0, 1},
                       {100, 0}},
        TaintScoreCase{
            "the nodes that all of their taints are tolerated by the pod, get "
            "the same score, no matter how many tolerable taints a node has",
            {Tolerate("cpu-type", "arm64"), Tolerate("disk-type", "ssd")},
            {{}, {kArm}, {kArm, kSsd}},
            {0, 0, 0},
            {100, 100, 100}},
        TaintScoreCase{"the more intolerable taints a node has, the lower "
                       "score it gets.",
                       {Tolerate("foo", "bar")},
                       {{}, {kArm}, {kArm, kSsd}},
                       {0, 1, 2},
                       {100, 50, 0}},
        TaintScoreCase{
            "only taints and tolerations that have effect "
            "PreferNoSchedule are checked by taints-tolerations "
            "priority function",
            {Tolerate("cpu-type", "arm64", "NoSchedule"),
             Tolerate("disk-type", "ssd", "NoSchedule")},
            {{}, {Avoid("cpu-type", "arm64", "NoSchedule")}, {kArm, kSsd}},
            {0, 0, 2},
            {100, 100, 0}},
        TaintScoreCase{"Default behaviour No taints and tolerations, lands on "
                       "node with no taints",
                       {},
                       {{}, {kArm}},
                       {0, 1},
                       {100, 0}}));

INSTANTIATE_TEST_SUITE_P(
    Ours, TaintTolerationScoreTest,
    ::testing::Values(
        TaintScoreCase{"taints of other effects do not count",
                       {},
                       {{Avoid("foo", "", "NoSchedule")},
                        {Avoid("foo", "", "NoExecute")},
                        {Avoid("foo")}},
                       {0, 0, 1},
                       {100, 100, 0}},
        TaintScoreCase{"a toleration without effect tolerates every effect",
                       {Tolerate("cpu-type", "arm64", "")},
                       {{kArm}, {kSsd}},
                       {0, 1},
                       {100, 0}},
        TaintScoreCase{"a toleration without key tolerates every taint",
                       {{.operation = "Exists"}},
                       {{kArm}, {kArm, kSsd}},
                       {0, 0},
                       {100, 100}},
        TaintScoreCase{"the operators Gt and Lt tolerate nothing",
                       {{.key = "sla", .operation = "Gt", .value = "950"},
                        {.key = "sla", .operation = "Lt", .value = "950"}},
                       {{Avoid("sla", "999")}, {Avoid("sla", "9")}, {}},
                       {1, 1, 0},
                       {0, 0, 100}},
        TaintScoreCase{"scores depend on the node with the most taints",
                       {},
                       {{kArm}, {kArm, kSsd, Avoid("foo")}, {}},
                       {1, 3, 0},
                       {67, 0, 100}}));

}  // namespace
}  // namespace minisched
