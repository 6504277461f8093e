#include "lab/explain/answer.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace minisched::explain {
namespace {

using ::testing::HasSubstr;

using Json = nlohmann::json;

Answer Unschedulable() {
  return {.pod = "default/web",
          .state = State::kUnschedulable,
          .sentence = "0/1 nodes are available."};
}

// Returns the table after its first line.
std::string RestOf(const Answer& answer) {
  const std::string table = ToTable(answer);
  return table.substr(table.find('\n') + 1);
}

TEST(AnswerTest, PairsOfChangesAreNamedAsSuch) {
  Answer answer = Unschedulable();
  answer.tried = {.changes = 2, .pairs = 3};
  answer.suggestions = {
      {.text = "a, and b", .step = "[]", .changes = 2, .node = "n"}};
  EXPECT_EQ(RestOf(answer),
            "No single change helps. Any of these pairs of changes does (tried "
            "on a copy):\n"
            "  a, and b  → n\n");
  const Json json = Json::parse(ToJson(answer));
  EXPECT_EQ(json["suggestions"][0]["changes"], 2);
  EXPECT_EQ(json["tried"], Json({{"changes", 2}, {"pairs", 3}}));
}

TEST(AnswerTest, NamesHowManyChangesWereTriedInVain) {
  Answer answer = Unschedulable();
  EXPECT_EQ(RestOf(answer), "");
  EXPECT_FALSE(Json::parse(ToJson(answer)).contains("tried"));
  answer.tried = {.changes = 2, .pairs = 3};
  EXPECT_EQ(RestOf(answer),
            "No single change helps (2 tried on a copy), and no pair of "
            "changes (3 tried).\n");
  answer.tried->pairs = 0;
  EXPECT_EQ(RestOf(answer), "No single change helps (2 tried on a copy).\n");
  answer.tried->changes = 0;
  EXPECT_EQ(RestOf(answer), "No single change was found that helps.\n");
  answer.tried->pairs = 3;
  EXPECT_EQ(RestOf(answer),
            "No single change was found that helps, and no pair of changes "
            "helps (3 tried on a copy).\n");
}

TEST(AnswerTest, VictimsHaveTheirPriorityAndBudgets) {
  Answer answer = Unschedulable();
  answer.state = State::kPreempts;
  answer.node = "n";
  answer.priority = 9;
  answer.victims = {{.pod = "default/a", .priority = 7},
                    {.pod = "default/b", .priority = 5, .budgets = {"x/g"}}};
  EXPECT_EQ(ToTable(answer),
            "default/web fits no node: 0/1 nodes are available. The scheduler "
            "evicts 2 pods of lower priority from n for it:\n"
            "  default/a  priority 7, below 9\n"
            "  default/b  priority 5, below 9, against the disruption budget "
            "x/g\n");
  EXPECT_EQ(
      Json::parse(ToJson(answer))["victims"][1],
      Json({{"pod", "default/b"}, {"priority", 5}, {"budgets", {"x/g"}}}));
  answer.rejected = {{.node = "n", .rejections = {{.plugin = "P"}}}};
  EXPECT_THAT(ToTable(answer), HasSubstr("Why it fits no node now:\n  n  P"));
}

}  // namespace
}  // namespace minisched::explain
