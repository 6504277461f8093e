#include "minisched/trace/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::ordered_json;

Record RecordOf(decltype(Record::state) state) {
  return {.sequence = 7,
          .time = ParseTime("2026-01-01T00:00:00.25Z"),
          .state = std::move(state)};
}

Json Parsed(decltype(Record::state) state) {
  return Json::parse(ToJsonLine(RecordOf(std::move(state))));
}

TEST(ToJsonLineTest, WritesAPod) {
  const PodRecord pod{.pod = "shop/web",
                      .uid = "u1",
                      .place = Place::kUnschedulable,
                      .move = {.event = "ScheduleAttemptFailure",
                               .plugins = {"NodeName", "NodeResourcesFit"},
                               .wakes = {"Node/Add"},
                               .attempts = 3,
                               .node = "node-1"},
                      .until = ParseTime("2026-01-01T00:00:01.5Z")};
  EXPECT_EQ(ToJsonLine(RecordOf(pod)),
            R"({"v":2,"sequence":7,"time":"2026-01-01T00:00:00.250000Z",)"
            R"("pod":{"name":"shop/web","uid":"u1","place":"unschedulable",)"
            R"("event":"ScheduleAttemptFailure",)"
            R"("plugins":["NodeName","NodeResourcesFit"],"wakes":["Node/Add"],)"
            R"("attempts":3,"until":"2026-01-01T00:00:01.500000Z",)"
            R"("node":"node-1"}})");
}

TEST(ToJsonLineTest, OmitsEmptyMembers) {
  EXPECT_EQ(Parsed(PodRecord{.pod = "shop/web", .uid = "u1"})["pod"],
            Json::parse(R"({"name":"shop/web","uid":"u1","place":"gone"})"));
  EXPECT_EQ(
      Parsed(Attempt{.pod = "shop/web", .uid = "u1", .number = 1})["attempt"],
      Json::parse(R"({"pod":"shop/web","uid":"u1","attempt":1,
                            "allNodes":0,"feasibleNodes":0})"));
}

TEST(ToJsonLineTest, WritesAnAttempt) {
  const Attempt attempt{
      .pod = "shop/web",
      .uid = "u1",
      .number = 2,
      .filters = {"NodeName", "NodeResourcesFit"},
      .fits = {"node-2", "node-3"},
      .scores = {{.plugin = "ImageLocality",
                  .weight = 2,
                  .raw = {-3, 0},
                  .normalized = {20, 10}}},
      .rejected = {{.node = "node-1",
                    .rejections = {{"NodeName", {"wrong name"}},
                                   {"NodeResourcesFit", {"cpu", "memory"}}}}},
      .all_rejections = true,
      .points = {{.point = "Bind",
                  .plugin = "DefaultBinder",
                  .status = "Error",
                  .message = "conflict"},
                 {.point = "PostFilter"}},
      .node = "node-2",
      .failure = "conflict",
      .all_nodes = 3,
      .feasible_nodes = 2,
      .reasons = {{"NodeName", "wrong name", 1}}};
  EXPECT_EQ(Parsed(attempt), Json::parse(R"({
    "v": 2, "sequence": 7, "time": "2026-01-01T00:00:00.250000Z",
    "attempt": {
      "pod": "shop/web", "uid": "u1", "attempt": 2,
      "allNodes": 3, "feasibleNodes": 2,
      "reasons":
        [{"plugin": "NodeName", "reason": "wrong name", "nodes": 1}],
      "filters": ["NodeName", "NodeResourcesFit"],
      "allRejections": true,
      "fits": ["node-2", "node-3"],
      "scores": [{"plugin": "ImageLocality", "weight": 2,
                  "raw": [-3, 0], "normalized": [20, 10]}],
      "rejected": [
        {"node": "node-1", "rejections": [
          {"plugin": "NodeName", "reasons": ["wrong name"]},
          {"plugin": "NodeResourcesFit", "reasons": ["cpu", "memory"]}]}],
      "points": [
        {"point": "Bind", "plugin": "DefaultBinder", "status": "Error",
         "message": "conflict"},
        {"point": "PostFilter"}],
      "node": "node-2", "failure": "conflict"}})"));
}

TEST(ToJsonLineTest, WritesScoresOfEachSize) {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  const Json scores =
      Parsed(Attempt{.scores = {{.plugin = "P",
                                 .raw = {kLeast, kLeast, kMost, 0, -1},
                                 .normalized = {}}}})["attempt"]["scores"];
  EXPECT_EQ(scores[0]["raw"], Json({kLeast, kLeast, kMost, 0, -1}));
  EXPECT_EQ(scores[0]["normalized"], Json::array());
}

TEST(ToJsonLineTest, WritesTheScheduler) {
  EXPECT_EQ(
      Parsed(SchedulerRecord{.name = "minisched", .paused = true})["scheduler"],
      Json::parse(R"({"name":"minisched","paused":true})"));
  EXPECT_EQ(
      Parsed(SchedulerRecord{.name = "mine", .program = "p"})["scheduler"],
      Json::parse(R"({"name":"mine","program":"p","paused":false})"));
}

TEST(ToJsonLineTest, WritesTheQueue) {
  EXPECT_EQ(Parsed(QueueRecord{.active = {"u2", "u1"}, .length = 7}),
            Json::parse(R"({
    "v": 2, "sequence": 7, "time": "2026-01-01T00:00:00.250000Z",
    "queue": {"active": ["u2", "u1"], "length": 7}})"));
  EXPECT_EQ(Parsed(QueueRecord())["queue"],
            Json::parse(R"({"active":[],"length":0})"));
}

TEST(ToJsonLineTest, ASummaryOmitsTheNodes) {
  const Attempt attempt{
      .pod = "shop/web",
      .uid = "u1",
      .number = 2,
      .filters = {"NodeName"},
      .fits = {"node-2", "node-3"},
      .scores = {{.plugin = "P", .raw = {1, 2}, .normalized = {1, 2}}},
      .rejected = {{.node = "node-1",
                    .rejections = {{"NodeName", {"wrong name"}}}}},
      .points = {{.point = "Bind"}},
      .node = "node-2",
      .all_nodes = 3,
      .feasible_nodes = 2,
      .reasons = {{"NodeName", "wrong name", 1}}};
  const auto line = ToJsonLine(RecordOf(attempt), JsonDetail::kSummary);
  EXPECT_EQ(Json::parse(line)["attempt"], Json::parse(R"({
      "pod": "shop/web", "uid": "u1", "attempt": 2,
      "allNodes": 3, "feasibleNodes": 2,
      "reasons":
        [{"plugin": "NodeName", "reason": "wrong name", "nodes": 1}],
      "filters": ["NodeName"], "points": [{"point": "Bind"}],
      "node": "node-2"})"));
  const Record pod = RecordOf(PodRecord{.pod = "shop/web", .uid = "u1"});
  EXPECT_EQ(ToJsonLine(pod, JsonDetail::kSummary), ToJsonLine(pod));
}

TEST(ToJsonLineTest, NamesEachPlace) {
  const std::vector<std::pair<Place, const char*>> names = {
      {Place::kGated, "gated"},        {Place::kActive, "active"},
      {Place::kBackoff, "backoff"},    {Place::kUnschedulable, "unschedulable"},
      {Place::kInFlight, "in flight"}, {Place::kWaiting, "waiting"},
      {Place::kAssumed, "assumed"},    {Place::kBound, "bound"},
      {Place::kGone, "gone"}};
  for (const auto& [place, name] : names) {
    EXPECT_EQ(Parsed(PodRecord{.place = place})["pod"]["place"], name);
  }
}

TEST(ToJsonLineTest, TextCannotBreakTheLine) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a\nb\r\nc", "a\nb\r\nc"},
      {"\x1b[31mred", "\x1b[31mred"},
      {"\x7f", "\x7f"},
      {"\xc2\x9b"
       "31m",
       "\xc2\x9b"
       "31m"},                           // U+009B is the same as ESC [
      {"\xe2\x80\xa8", "\xe2\x80\xa8"},  // U+2028 ends a line
      {"Gr\xc3\xb6\xc3\x9f"
       "e \xf0\x9f\x90\xb3",
       "Gr\xc3\xb6\xc3\x9f"
       "e \xf0\x9f\x90\xb3"},
      {"\"}\\", "\"}\\"},
      {std::string("a\0b", 3), std::string("a\0b", 3)},
      {"a\xff"
       "b",
       "a\xef\xbf\xbd"
       "b"},  // U+FFFD replaces broken UTF-8
      {"a\xc3", "a\xef\xbf\xbd"},
  };
  for (const auto& [text, parsed] : cases) {
    const std::string line = ToJsonLine(
        RecordOf(Attempt{.pod = text, .fits = {text}, .failure = text}));
    EXPECT_TRUE(std::all_of(line.begin(), line.end(), [](char c) {
      return c >= ' ' && c <= '~';
    })) << line;
    const Json attempt = Json::parse(line)["attempt"];
    EXPECT_EQ(attempt["pod"], parsed);
    EXPECT_EQ(attempt["fits"][0], parsed);
    EXPECT_EQ(attempt["failure"], parsed);
  }
}

// Returns the lines of the records with these states, whose sequence begins
// with 1.
std::vector<std::string> LinesOf(std::vector<decltype(Record::state)> states,
                                 JsonDetail detail = JsonDetail::kFull) {
  std::vector<RecordPtr> records;
  for (auto& state : states) {
    Record record = RecordOf(std::move(state));
    record.sequence = records.size() + 1;
    records.push_back(std::make_shared<const Record>(std::move(record)));
  }
  RecordLines lines(std::move(records), detail);
  std::vector<std::string> all;
  while (!lines.empty()) all.push_back(lines.Next());
  return all;
}

TEST(RecordLinesTest, LeaveOutAttemptsThatLaterRecordsReplace) {
  const auto attempt = [](const std::string& uid, int number,
                          const std::string& node) {
    return Attempt{.uid = uid, .number = number, .node = node};
  };
  const std::vector<std::string> lines =
      LinesOf({PodRecord{.uid = "a"}, attempt("a", 1, ""), attempt("b", 1, ""),
               attempt("a", 2, ""), PodRecord{.uid = "a"},
               attempt("a", 1, "node-1"), attempt("b", 1, "node-2")});
  std::vector<int> sequences;
  std::vector<int> replaced;
  for (const std::string& line : lines) {
    const Json record = Json::parse(line);
    sequences.push_back(record["sequence"]);
    replaced.push_back(record.value("replaced", 0));
  }
  EXPECT_EQ(sequences, (std::vector{1, 4, 5, 6, 7}));
  EXPECT_EQ(replaced, (std::vector{0, 2, 0, 0, 0}));
  EXPECT_EQ(Json::parse(lines[3])["attempt"]["node"], "node-1");
}

TEST(RecordLinesTest, HaveTheDetail) {
  const Attempt attempt{.uid = "a", .number = 1, .fits = {"node-1"}};
  EXPECT_THAT(LinesOf({attempt}),
              ElementsAre(HasSubstr(R"("fits":["node-1"])")));
  EXPECT_THAT(LinesOf({attempt}, JsonDetail::kSummary),
              ElementsAre(Not(HasSubstr("fits"))));
}

TEST(RecordLinesTest, NoRecordsHaveNoLines) {
  EXPECT_TRUE(RecordLines().empty());
}

}  // namespace
}  // namespace minisched
