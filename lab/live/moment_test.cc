#include "lab/live/moment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/live/files_testing.h"
#include "lab/live/record_lines.h"
#include "minisched/api/pod.h"
#include "minisched/api/yaml.h"
#include "minisched/client/client.h"
#include "testing/embedded_server.h"

namespace minisched::live {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

std::string At(const std::string& text, std::uint64_t sequence) {
  return ObjectsAt(TestFile(text).path(), sequence);
}

// Returns "Kind name" of each object.
std::vector<std::string> Names(const std::string& yaml) {
  std::vector<std::string> names;
  const Json list = Json::parse(YamlToJson(yaml).at(0));
  for (const Json& object : list["items"]) {
    names.push_back(std::string(object["kind"]) + " " +
                    std::string(object["metadata"]["name"]));
  }
  return names;
}

std::string MomentErrorOf(const std::string& text, std::uint64_t sequence) {
  const TestFile file(text);
  try {
    ObjectsAt(file.path(), sequence);
  } catch (const RecordingError& error) {
    std::string message = error.what();
    return message.replace(message.find(file.path()), file.path().size(),
                           "FILE");
  }
  return "no error";
}

TEST(MomentTest, HasTheObjectsOfTheMoment) {
  const std::string recording = ObjectLine(1, "Add", NodeJson("n")) +
                                RecordLine(2, 1, PodState("a", "active")) +
                                ObjectLine(3, "Add", PodJson("a", "{}")) +
                                RecordLine(4, 2, PodState("a", "in flight")) +
                                RecordLine(6, 5, PodState("a", "gone")) +
                                // Written late: its time counts.
                                ObjectLine(5, "Delete", PodReference("a"));
  EXPECT_THAT(Names(At(recording, 1)), ElementsAre("Node n"));
  const std::vector<std::string> with_pod = {"Namespace ns", "Node n", "Pod a"};
  EXPECT_EQ(Names(At(recording, 2)), with_pod);
  EXPECT_EQ(Names(At(recording, 4)), with_pod);  // record 4 is missing
  EXPECT_THAT(Names(At(recording, 5)), ElementsAre("Node n"));
}

TEST(MomentTest, CountsLinesWithoutRecords) {
  const std::string recording =
      ObjectLine(1, "Add", NodeJson("n")) + ObjectLine(2, "Add", NodeJson("m"));
  EXPECT_THAT(Names(At(recording, 1)), ElementsAre("Node n"));
  EXPECT_THAT(Names(At(recording, 2)), ElementsAre("Node m", "Node n"));
  EXPECT_EQ(MomentErrorOf(recording, 3), "--at 3: FILE has the lines 1 to 2");
}

TEST(MomentTest, RefusesAMomentBeyondTheRecording) {
  const std::string recording = RecordLine(2, 7, PodState("a", "active"));
  const std::string error = ": FILE has the records with the sequences 1 to 7";
  EXPECT_EQ(MomentErrorOf(recording, 8), "--at 8" + error);
  EXPECT_EQ(MomentErrorOf(recording, 0), "--at 0" + error);
}

TEST(MomentTest, LeavesOutWhatTheServerHasAdded) {
  const std::string yaml = At(ObjectLine(1, "Add",
                                         PodJson("a", R"({"nodeName":"n"})", "",
                                                 R"({"phase":"Running"})")) +
                                  ObjectLine(1, "Add", NodeJson("n")),
                              2);
  const Json items = Json::parse(YamlToJson(yaml).at(0))["items"];
  EXPECT_EQ(items[2], Json::parse(R"({"apiVersion":"v1","kind":"Pod",)"
                                  R"("metadata":{"name":"a","namespace":"ns"},)"
                                  R"("spec":{"nodeName":"n"}})"));
  EXPECT_EQ(items[1]["status"]["allocatable"]["cpu"], "4");
}

TEST(MomentTest, LeavesOutPodsThatHaveEndedOrAreBeingDeleted) {
  const std::string deletion = R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")";
  EXPECT_THAT(
      Names(At(ObjectLine(1, "Add",
                          PodJson("a", "{}", "", R"({"phase":"Failed"})")) +
                   ObjectLine(1, "Add", PodJson("b", "{}", deletion)) +
                   ObjectLine(1, "Add", NodeJson("n")),
               3)),
      ElementsAre("Node n"));
}

TEST(MomentTest, KeepsThePriorityClassesOfTheRecording) {
  const std::string yaml = At(
      ObjectLine(1, "Add",
                 PodJson("a", R"({"priorityClassName":"high","priority":5})")) +
          ObjectLine(1, "Add",
                     R"({"apiVersion":"scheduling.k8s.io/v1",)"
                     R"("kind":"PriorityClass","metadata":{"name":"high"},)"
                     R"("value":5,"description":"d"})"),
      2);
  EXPECT_THAT(Names(yaml),
              ElementsAre("Namespace ns", "PriorityClass high", "Pod a"));
  EXPECT_THAT(yaml, HasSubstr("description: d"));
}

TEST(MomentTest, AServerLoadsTheObjects) {
  const std::string pod = R"({"containers":[{"name":"c","image":"i"}],)"
                          R"("priorityClassName":"high","priority":5,)"
                          R"("preemptionPolicy":"Never","nodeName":"n"})";
  EmbeddedServer server(At(ObjectLine(1, "Add", PodJson("a", pod)) +
                               ObjectLine(1, "Add", NodeJson("n")),
                           2));
  Client client(server.config());
  const auto loaded = client.Get<Pod>("ns", "a");
  EXPECT_EQ(loaded->spec.node_name, "n");
  EXPECT_EQ(loaded->spec.priority, 5);
}

// Returns the result of CountBefore() for a recording of a whole life.
std::size_t Before(const std::string& what) {
  const TestFile file(ObjectLine(1, "Add", NodeJson("n")) +
                      RecordLine(2, 1, PodState("a", "active")) +
                      ObjectLine(3, "Add", PodJson("a", "{}")) +
                      RecordLine(4, 2, PodState("a", "in flight")) +
                      RecordLine(5, 3, PodState("web-a", "active")) +
                      ObjectLine(6, "Add", NodeJson("late")) +
                      ObjectLine(7, "Delete", PodReference("a")) +
                      RecordLine(8, 4, PodState("a", "gone")));
  return CountBefore(Recording(file.path()), what);
}

TEST(MomentTest, BeforeTheFirstChangeOfAnObject) {
  EXPECT_EQ(Before("n"), 0U);
  EXPECT_EQ(Before("a"), 1U);
  EXPECT_EQ(Before("web-a"), 4U);
  EXPECT_EQ(Before("ns/web-a"), 4U);
  EXPECT_EQ(Before("late"), 5U);
}

TEST(MomentTest, BeforeAPodComesToAPlace) {
  EXPECT_EQ(Before("a:active"), 1U);
  EXPECT_EQ(Before("a:in flight"), 3U);
  EXPECT_EQ(Before("a:gone"), 6U);
  EXPECT_EQ(Before(":in flight"), 3U);
}

TEST(MomentTest, ReportsAMomentThatNeverComes) {
  const auto error_of = [](const std::string& what) -> std::string {
    try {
      Before(what);
    } catch (const RecordingError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_of("web"),
            "--before web: the recording has no node or pod of this name");
  EXPECT_EQ(
      error_of("a:bound"),
      "--before a:bound: no such pod comes to this place in the recording");
  EXPECT_EQ(error_of("n:gone").find("--before n:gone: "), 0U);
  EXPECT_EQ(error_of(":bound").find("--before :bound: "), 0U);
}

}  // namespace
}  // namespace minisched::live
