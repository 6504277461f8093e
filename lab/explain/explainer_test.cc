#include "lab/explain/explainer.h"

#include <gmock/gmock.h>

#include "lab/explain/experiment_testing.h"

namespace minisched::explain {
namespace {

using ::testing::IsEmpty;

// Returns the answer if the scheduler's first attempt fails, and its record has
// these members.
Answer AnswerTo(const std::string& members) {
  return Explain(
      WebExperiment(Recording(
          R"({"v": 2, "sequence": 1, "attempt": {"uid": "u", "failure": )"
          R"("0/1 nodes are available.", )" +
          members + "}}")),
      /*suggest=*/true, {});
}

TEST(ExplainerTest, APodForWhichOthersAreEvictedGetsItsNodeLater) {
  const Answer answer = AnswerTo(
      R"("allNodes": 1, "rejected": [{"node": "node-1", "rejections": [)"
      R"({"plugin": "NodeUnschedulable", "reasons": ["no"]}]}], "points": [)"
      R"({"point": "PostFilter", "status": "Success", "message": "node-1"}])");
  EXPECT_EQ(answer.state, State::kPreempts);
  EXPECT_EQ(answer.node, "node-1");
  EXPECT_EQ(ExitCode(answer), 0);
  EXPECT_EQ(ToTable(answer),
            "default/web fits no node: 0/1 nodes are available. The scheduler "
            "evicts pods of lower priority from node-1 for it\n"
            "  node-1  NodeUnschedulable: cordoned\n");
  EXPECT_THAT(answer.suggestions, IsEmpty());
}

}  // namespace
}  // namespace minisched::explain
