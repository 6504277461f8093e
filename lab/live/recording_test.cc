#include "lab/live/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/live/files_testing.h"

namespace minisched::live {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Json = nlohmann::json;

// Describes each item: "1 node n", "2 pod a on n", "3 pod a deleted",
// "4 pod a: bound", "5 attempt a/1".
std::vector<std::string> ItemsOf(const Recording& recording) {
  std::vector<std::string> all;
  for (const Item& shown : recording.items()) {
    const Json item = Json::parse(shown.json);
    std::string text = item["time"].get<std::string>().substr(18, 1) + " ";
    if (item.contains("cluster")) {
      const auto row = item["cluster"].begin();
      text += row.key() + " " + row->at("name").get<std::string>();
      if (row->contains("node")) text += " on " + std::string(row->at("node"));
      if (row->contains("deleted")) text += " deleted";
      EXPECT_EQ(row->at("uid"), "uid-" + std::string(row->at("name")));
    } else if (item.contains("pod")) {
      text += "pod " + std::string(item["pod"]["name"]) + ": " +
              std::string(item["pod"]["place"]);
    } else {
      text += shown.key;
    }
    all.push_back(text);
  }
  return all;
}

Recording Replay(const std::string& text) {
  return Recording(TestFile(text).path());
}

TEST(RecordingTest, ShowsObjectsAsRows) {
  EXPECT_THAT(
      ItemsOf(
          Replay(ObjectLine(1, "Add", NodeJson("n")) +
                 ObjectLine(2, "Add", PodJson("a", "{}")) +
                 ObjectLine(3, "Update", PodJson("a", R"({"nodeName":"n"})")) +
                 ObjectLine(4, "Delete", PodReference("a")))),
      ElementsAre("1 node n", "2 pod a", "3 pod a on n", "4 pod a deleted"));
}

TEST(RecordingTest, LeavesOutChangesThatAPageDoesNotShow) {
  EXPECT_THAT(
      ItemsOf(Replay(
          ObjectLine(1, "Add", PodJson("a", "{}")) +
          ObjectLine(2, "Update",
                     PodJson("a", "{}", R"(,"labels":{"a":"b"})")) +
          ObjectLine(3, "Delete", PodReference("b")) +
          ObjectLine(4, "Add", R"({"kind":"Namespace","metadata":{}})"))),
      ElementsAre("1 pod a"));
}

TEST(RecordingTest, APodWithANewUidReplacesItsNamesake) {
  std::string namesake = PodJson("a", "{}");
  namesake.replace(namesake.find("uid-a"), 5, "uid-2");
  const Recording recording =
      Replay(ObjectLine(1, "Add", namesake) +
             ObjectLine(2, "Update", PodJson("a", "{}")));
  ASSERT_EQ(recording.items().size(), 3U);
  EXPECT_EQ(recording.items()[1].key, "uid-2/row");
  EXPECT_EQ(recording.items()[1].remains, Remains::kNoOwner);
  EXPECT_EQ(recording.items()[2].key, "uid-a/row");
}

TEST(RecordingTest, SortsRowsAndRecordsByTheirTimes) {
  EXPECT_THAT(ItemsOf(Replay(RecordLine(2, 1, PodState("a", "active")) +
                             RecordLine(5, 2, PodState("a", "bound")) +
                             ObjectLine(1, "Add", PodJson("a", "{}")) +
                             ObjectLine(4, "Add", NodeJson("n")))),
              ElementsAre("1 pod a", "2 pod ns/a: active", "4 node n",
                          "5 pod ns/a: bound"));
}

TEST(RecordingTest, KeepsTheOrderOfRecordsIfTheClockWasSetBack) {
  EXPECT_THAT(ItemsOf(Replay(ObjectLine(1, "Add", NodeJson("n")) +
                             ObjectLine(7, "Add", NodeJson("m")) +
                             RecordLine(5, 1, PodState("a", "active")) +
                             RecordLine(3, 2, PodState("a", "bound")))),
              ElementsAre("1 node n", "5 pod ns/a: active", "3 pod ns/a: bound",
                          "7 node m"));
}

TEST(RecordingTest, FindsFullAttemptsInTheFile) {
  const std::string last =
      RecordLine(2, 2, AttemptState("a", 1, R"(,"fits":["ä"],"node":"n")"));
  const TestFile file("\n" + RecordLine(1, 1, AttemptState("a", 1)) + last +
                      RecordLine(3, 3, AttemptState("a", 2)));
  const Recording recording(file.path());
  EXPECT_EQ(recording.FindAttempt("uid-a/1").value() + "\n", last);
  EXPECT_FALSE(recording.FindAttempt("uid-a/3"));
  EXPECT_THAT(recording.AttemptKeys(), ElementsAre("uid-a/1", "uid-a/2"));
}

TEST(RecordingTest, ReturnsNoAttemptIfTheFileHasChanged) {
  const TestFile file(RecordLine(1, 1, AttemptState("a", 1)));
  const Recording recording(file.path());
  std::ofstream(file.path()) << "short";
  EXPECT_FALSE(recording.FindAttempt("uid-a/1"));
}

TEST(RecordingTest, HasTheSchedulersNames) {
  const Recording recording =
      Replay(RecordLine(1, 1, R"("scheduler":{"name":"s","program":"p"})"));
  EXPECT_EQ(recording.program(), "p");
  EXPECT_EQ(recording.scheduler(), "s");
  const Recording other =
      Replay(ObjectLine(1, "Add", PodJson("a", R"({"schedulerName":"x"})")));
  EXPECT_EQ(other.program(), "r");  // the name of the file
  EXPECT_EQ(other.scheduler(), "x");
}

const char* const kAnnotations =
    R"(,"annotations":{"kube-scheduler-simulator.sigs.k8s.io/filter-result":)"
    R"("{\"n\":{\"F\":\"passed\"}}",)"
    R"("kube-scheduler-simulator.sigs.k8s.io/selected-node":"n"})";

TEST(RecordingTest, ShowsTheSimulatorsAnnotationsAsAttempts) {
  const Recording recording =
      Replay(ObjectLine(1, "Add", PodJson("a", "{}")) +
             ObjectLine(2, "Update", PodJson("a", "{}", kAnnotations)) +
             ObjectLine(3, "Add", NodeJson("n")));
  EXPECT_THAT(ItemsOf(recording),
              ElementsAre("1 pod a", "2 uid-a/attempt/1", "3 node n"));
  EXPECT_THAT(recording.FindAttempt("uid-a/1").value(),
              HasSubstr(R"("fits":["n"])"));
  EXPECT_THAT(recording.AttemptKeys(), ElementsAre("uid-a/1"));
}

TEST(RecordingTest, IgnoresAnnotationsIfThereAreRecords) {
  const Recording recording =
      Replay(ObjectLine(1, "Add", PodJson("a", "{}", kAnnotations)) +
             RecordLine(2, 1, PodState("a", "active")));
  EXPECT_THAT(ItemsOf(recording), ElementsAre("1 pod a", "2 pod ns/a: active"));
  EXPECT_THAT(recording.AttemptKeys(), IsEmpty());
}

TEST(RecordingTest, ReportsMalformedObjects) {
  const auto error_of = [](const std::string& line) -> std::string {
    try {
      Replay(line);
    } catch (const RecordingError& error) {
      const std::string text = error.what();
      return text.substr(text.find(":1: ") + 4);
    }
    return "no error";
  };
  EXPECT_EQ(error_of(ObjectLine(1, "Changed", NodeJson("n"))),
            R"(its "event" is not Add, Update or Delete)");
  EXPECT_EQ(error_of(ObjectLine(1, "Add", "[]")), "its resource is no object");
  EXPECT_EQ(error_of(ObjectLine(1, "Add", R"({"kind":"Pod"})")),
            "the object has no metadata.uid");
  EXPECT_THAT(error_of(ObjectLine(1, "Add",
                                  R"({"kind":"Pod","spec":{"priority":"x"}})")),
              StartsWith("spec.priority: "));
}

TEST(RecordingTest, ReportsAnEmptyRecording) {
  EXPECT_THROW(Replay("\n{\"v\""), RecordingError);
}

}  // namespace
}  // namespace minisched::live
