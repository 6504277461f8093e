#include "lab/explain/explainer.h"

#include <gmock/gmock.h>

#include "lab/explain/experiment_testing.h"

namespace minisched::explain {
namespace {

using ::testing::IsEmpty;

using ::testing::ElementsAre;

// Returns the record of a failed attempt that has these members.
std::string Failure(const std::string& members) {
  return R"({"v": 2, "sequence": 1, "attempt": {"uid": "u", "failure": )"
         R"("0/1 nodes are available.", )" +
         members + "}}";
}

Answer AnswerTo(const std::string& members) {
  return Explain(WebExperiment(Recording(Failure(members))), /*suggest=*/true,
                 {});
}

// The plugin with two suggestions for node-1.
constexpr char kCordoned[] =
    R"("allNodes": 1, "rejected": [{"node": "node-1", "rejections": [)"
    R"({"plugin": "NodeUnschedulable", "reasons": ["no"]}]}])";

TEST(ExplainerTest, APodForWhichOthersAreEvictedGetsItsNodeLater) {
  const Answer answer = AnswerTo(
      kCordoned +
      std::string(
          R"(, "points": [{"point": "PostFilter", "status": "Success", "message": "node-1"}])"));
  EXPECT_EQ(answer.state, State::kPreempts);
  EXPECT_EQ(answer.node, "node-1");
  EXPECT_EQ(ExitCode(answer), 0);
  EXPECT_EQ(ToTable(answer),
            "default/web fits no node: 0/1 nodes are available. The scheduler "
            "evicts pods of lower priority from node-1 for it\n"
            "  node-1  NodeUnschedulable: cordoned\n");
  EXPECT_THAT(answer.suggestions, IsEmpty());
}

TEST(ExplainerTest, SaysThatTheTraceHasNotAllNodes) {
  const std::string fits = R"("feasibleNodes": 2, "fits": ["a"], )";
  EXPECT_THAT(AnswerTo(fits + R"("allNodes": 2)").warnings,
              ElementsAre("the table has 1 of 2 nodes: a trace keeps no more"));
  EXPECT_THAT(
      AnswerTo(R"("feasibleNodes": 1, "fits": ["a"], "allNodes": 1)").warnings,
      IsEmpty());
  EXPECT_THAT(AnswerTo(R"("allNodes": 1)").warnings, IsEmpty());
}

}  // namespace
}  // namespace minisched::explain
