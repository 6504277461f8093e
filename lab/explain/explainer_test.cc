#include "lab/explain/explainer.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>

#include "lab/explain/experiment_testing.h"
#include "lab/scenario/files_testing.h"

namespace minisched::explain {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

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

// Two changes may help after this rejection.
constexpr char kCordoned[] =
    R"("allNodes": 1, "rejected": [{"node": "node-1", "rejections": [)"
    R"({"plugin": "NodeUnschedulable", "reasons": ["no"]}]}])";

TEST(ExplainerTest, ReportsThatPodsAreEvictedForThePod) {
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

TEST(ExplainerTest, WarnsThatTheTraceLacksNodes) {
  const std::string fits = R"("feasibleNodes": 2, "fits": ["a"], )";
  EXPECT_THAT(AnswerTo(fits + R"("allNodes": 2)").warnings,
              ElementsAre("the table has 1 of 2 nodes: a trace keeps no more"));
  EXPECT_THAT(
      AnswerTo(R"("feasibleNodes": 1, "fits": ["a"], "allNodes": 1)").warnings,
      IsEmpty());
  EXPECT_THAT(AnswerTo(R"("allNodes": 1)").warnings, IsEmpty());
}

TEST(ExplainerTest, WarnsThatTheSchedulerDidNotCheckAllNodes) {
  Experiment experiment = WebExperiment(Recording(
      Failure(R"("feasibleNodes": 1, "fits": ["node-1"], "allNodes": 1)")));
  experiment.objects.manifests.push_back(
      {R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n2"}})",
       "dump"});
  EXPECT_THAT(
      Explain(experiment, /*suggest=*/true, {}).warnings,
      ElementsAre("the scheduler checked 1 of 2 nodes, which was enough"));
}

TEST(ExplainerTest, WarnsAboutChangesThatWereNotTried) {
  const Answer answer = Explain(WebExperiment(Recording(Failure(kCordoned))),
                                /*suggest=*/true, {}, std::chrono::seconds(0));
  EXPECT_THAT(answer.warnings,
              ElementsAre("2 of 2 changes were not tried, because the 0 s for "
                          "suggestions were over"));
  EXPECT_EQ(answer.rejected.size(), 1);
}

TEST(ExplainerTest, WarnsAboutChangesThatCouldNotBeTried) {
  const scenario::TestDirectory directory;
  const std::string folder = directory.path() / "tmp";
  std::filesystem::create_directory(folder);
  setenv("TMPDIR", folder.c_str(), /*replace=*/1);
  // The next scheduler finds no folder for its files.
  const std::string scheduler =
      "trap 'rm -r \"$TMPDIR\"; exit' TERM; cat >\"$RECORD\" <<'EOT'\n" +
      Failure(kCordoned) + "\nEOT\nsleep 60 & wait";
  const Answer answer = Explain(WebExperiment(scheduler), /*suggest=*/true, {});
  unsetenv("TMPDIR");
  EXPECT_FALSE(std::filesystem::exists(folder));
  EXPECT_EQ(answer.rejected.size(), 1);
  EXPECT_THAT(answer.suggestions, IsEmpty());
  EXPECT_THAT(
      answer.warnings,
      ElementsAre(AllOf(StartsWith("2 of 2 changes could not be tried: "),
                        HasSubstr("No such file or directory"))));
}

}  // namespace
}  // namespace minisched::explain
