// The cases are those of upstream's plugins/helper/normalize_score_test.go, in
// their order, and ours.
#include "plugins/normalize_score.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <vector>

namespace minisched {
namespace {

struct NormalizeCase {
  bool reverse;
  std::vector<std::int64_t> scores;
  std::vector<std::int64_t> expected;
};

std::ostream& operator<<(std::ostream& out, const NormalizeCase& c) {
  return out << ::testing::PrintToString(c.scores)
             << (c.reverse ? " reversed" : "");
}

class DefaultNormalizeScoreTest
    : public ::testing::TestWithParam<NormalizeCase> {};

TEST_P(DefaultNormalizeScoreTest, ScalesTheScores) {
  std::vector<NodeScore> list;
  for (const std::int64_t score : GetParam().scores) {
    list.push_back({nullptr, score});
  }
  DefaultNormalizeScore(GetParam().reverse, list);
  std::vector<std::int64_t> scores;
  for (const NodeScore& entry : list) scores.push_back(entry.score);
  EXPECT_EQ(scores, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Upstream, DefaultNormalizeScoreTest,
    ::testing::Values(NormalizeCase{false, {1, 2, 3, 4}, {25, 50, 75, 100}},
                      NormalizeCase{true, {1, 2, 3, 4}, {75, 50, 25, 0}},
                      NormalizeCase{false, {1000, 10, 20, 30}, {100, 1, 2, 3}},
                      NormalizeCase{true, {1000, 10, 20, 30}, {0, 99, 98, 97}},
                      NormalizeCase{false, {1, 1, 1, 1}, {100, 100, 100, 100}},
                      NormalizeCase{false, {1000, 1, 1, 1}, {100, 0, 0, 0}},
                      NormalizeCase{true, {0, 1, 1, 1}, {100, 0, 0, 0}},
                      NormalizeCase{false, {0, 0, 0, 0}, {0, 0, 0, 0}},
                      NormalizeCase{true, {0, 0, 0, 0}, {100, 100, 100, 100}}));

// Quotients are rounded towards zero before they are reversed. Negative scores
// are outside of the contract; as upstream, they stay negative, so that the
// framework reports them.
INSTANTIATE_TEST_SUITE_P(
    Ours, DefaultNormalizeScoreTest,
    ::testing::Values(NormalizeCase{false, {}, {}}, NormalizeCase{true, {}, {}},
                      NormalizeCase{false, {1, 2, 3}, {33, 66, 100}},
                      NormalizeCase{true, {1, 2, 3}, {67, 34, 0}},
                      NormalizeCase{false, {-3, 6, 0}, {-50, 100, 0}},
                      NormalizeCase{false, {-3, -6, 0}, {-3, -6, 0}}));

}  // namespace
}  // namespace minisched
