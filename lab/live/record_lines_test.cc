#include "lab/live/record_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "lab/live/files_testing.h"

namespace minisched::live {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using Json = nlohmann::json;

std::vector<Json> LinesOf(const std::string& text) {
  const TestFile file(text);
  std::vector<Json> lines;
  ReadLines(file.path(),
            [&](const Json& line, const LinePlace&) { lines.push_back(line); });
  return lines;
}

// Reads the heads of the lines of a file. Returns the error without the path.
std::string HeadErrorOf(const std::string& text) {
  const TestFile file(text);
  try {
    ReadLines(file.path(), [](const Json& line, const LinePlace&) {
      ReadHead(line);
      RecordItem(line);
    });
  } catch (const RecordingError& error) {
    return std::string(error.what()).substr(file.path().size());
  }
  return "no error";
}

TEST(RecordLinesTest, ReadsEachLine) {
  EXPECT_THAT(LinesOf("1\n\n \r\n2\n"), ElementsAre(1, 2));
  EXPECT_THAT(LinesOf("1\n2"), ElementsAre(1, 2));
  EXPECT_THAT(LinesOf(""), ElementsAre());
}

TEST(RecordLinesTest, IgnoresALastLineThatIsCutOff) {
  EXPECT_THAT(LinesOf("1\n{\"time\":\"2026-"), ElementsAre(1));
}

TEST(RecordLinesTest, ReportsTheNumberOfAMalformedLine) {
  EXPECT_EQ(HeadErrorOf("\n{\"a\n1\n"),
            ":2: not JSON: expected a recording of --record");
  EXPECT_THAT(HeadErrorOf("[1]\n"), HasSubstr(":1: neither a record nor"));
  EXPECT_THAT(HeadErrorOf("{}\n"), HasSubstr(":1: neither a record nor"));
}

TEST(RecordLinesTest, ReportsAFileThatCannotBeRead) {
  for (const auto& [path, reason] :
       {std::pair("/nowhere/r", "No such file or directory"),
        std::pair("/tmp", "Is a directory")}) {
    try {
      ReadLines(path, [](const Json&, const LinePlace&) {});
      FAIL();
    } catch (const RecordingError& error) {
      EXPECT_EQ(error.what(),
                std::string("cannot read ") + path + ": " + reason);
    }
  }
}

TEST(RecordLinesTest, RefusesOtherVersions) {
  EXPECT_EQ(
      HeadErrorOf(R"({"v":1,"sequence":1,"time":"2026-01-01T00:00:00Z"})"),
      ":1: the recording has version 1, which this program does not "
      "read: record it again with the present minisched");
  EXPECT_THAT(HeadErrorOf(R"({"v":3})"),
              EndsWith("use a newer minisched-live"));
}

TEST(RecordLinesTest, ReportsWhatARecordLacks) {
  EXPECT_EQ(HeadErrorOf(R"({"v":2,"time":"2026-01-01T00:00:00Z"})"),
            R"(:1: its "sequence" is missing or wrong)");
  EXPECT_EQ(HeadErrorOf(R"({"v":2,"sequence":1})"),
            R"(:1: its "time" is missing or wrong)");
  for (const char* state : {R"("pod":7)", R"("pod":{"name":"a","place":"b"})",
                            R"("pod":{"name":"a","place":"b","uid":1})"}) {
    EXPECT_THAT(HeadErrorOf(RecordLine(1, 1, state)),
                EndsWith("is missing or wrong"))
        << state;
  }
  EXPECT_EQ(HeadErrorOf(RecordLine(1, 1, R"("attempt":{"pod":"a","uid":"b"})")),
            R"(:1: its "allNodes" is missing or wrong)");
  EXPECT_EQ(HeadErrorOf(RecordLine(1, 1, R"("queue":{"length":1,"active":7})")),
            R"(:1: its "active" is missing or wrong)");
}

TEST(RecordLinesTest, ReportsOptionalMembersThatAreWrong) {
  const auto error_of = [](const std::string& state, const std::string& more) {
    std::string wrong = state;
    wrong.insert(wrong.size() - 1, "," + more);
    return HeadErrorOf(RecordLine(1, 1, wrong));
  };
  for (const char* more :
       {R"("plugins":"X")", R"("plugins":[1])", R"("plugins":null)",
        R"("wakes":{})", R"("until":1)", R"("event":[])"}) {
    EXPECT_THAT(error_of(PodState("a", "active"), more),
                EndsWith("is missing or wrong"))
        << more;
  }
  for (const char* more :
       {R"("rejected":[{"node":"n"}])",
        R"("rejected":[{"node":"n","rejections":[{"plugin":"P"}]}])",
        R"("scores":[{"plugin":"P","weight":1,"raw":[1],"normalized":["1"]}])",
        R"("filters":null)", R"("points":[{"plugin":"P"}])",
        R"("reasons":[{"reason":"r","nodes":1.5}])"}) {
    EXPECT_THAT(error_of(AttemptState("a", 1), more),
                EndsWith("is missing or wrong"))
        << more;
  }
  EXPECT_EQ(error_of(AttemptState("a", 1), R"("fits":[1])"),
            R"(:1: its "fits" is missing or wrong)");
}

TEST(RecordLinesTest, ScoresMayBeFractions) {
  const auto error_of = [](const std::string& numbers) {
    return HeadErrorOf(RecordLine(
        1, 1,
        AttemptState("a", 1, R"(,"scores":[{"plugin":"P",)" + numbers + "}]")));
  };
  EXPECT_EQ(error_of(R"("weight":0.5,"raw":[100.0,-1],"normalized":[66.7,3])"),
            "no error");
  EXPECT_EQ(error_of(R"("weight":"1","raw":[1],"normalized":[1])"),
            R"(:1: its "scores" is missing or wrong)");
}

TEST(RecordLinesTest, MakesItemsOfRecords) {
  const auto item = [](const std::string& state) {
    return *RecordItem(Json::parse(RecordLine(1, 4, state)));
  };
  EXPECT_EQ(item(PodState("a", "active")).key, "uid-a/pod");
  EXPECT_EQ(item(PodState("a", "active")).remains, Remains::kItem);
  EXPECT_EQ(item(PodState("a", "gone")).remains, Remains::kNothing);
  EXPECT_EQ(item(R"("queue":{"active":[],"length":0})").key, "/queue");
  EXPECT_EQ(item(R"("scheduler":{"name":"a"})").key, "/scheduler");
}

TEST(RecordLinesTest, IgnoresRecordsOfUnknownThings) {
  EXPECT_FALSE(RecordItem(Json::parse(RecordLine(1, 1, R"("new":{})"))));
}

TEST(RecordLinesTest, AnAttemptBecomesASummary) {
  const Json record = Json::parse(RecordLine(
      1, 4,
      AttemptState("a", 3,
                   R"(,"fits":["n"],"scores":[],"rejected":[],"node":"n")")));
  const Item item = RecordItem(record).value();
  EXPECT_EQ(item.key, "uid-a/attempt/3");
  EXPECT_EQ(AttemptKey(record), "uid-a/3");
  EXPECT_EQ(Json::parse(item.json)["attempt"],
            Json::parse(R"({"pod":"ns/a","uid":"uid-a","attempt":3,)"
                        R"("allNodes":2,"feasibleNodes":1,"node":"n"})"));
}

TEST(RecordLinesTest, WritesTimesInUtc) {
  Json record = Json::parse(RecordLine(1, 1, PodState("a", "active")));
  record["time"] = "2026-01-01T01:00:00.5+01:00";
  EXPECT_EQ(Json::parse(RecordItem(record)->json)["time"],
            "2026-01-01T00:00:00.500000Z");
}

}  // namespace
}  // namespace minisched::live
