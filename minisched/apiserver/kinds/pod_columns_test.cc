#include <gtest/gtest.h>

#include <string>

#include "minisched/apiserver/kinds/columns.h"

namespace minisched::apiserver {
namespace {

// "1/2 Running 3"
std::string Print(const Json& pod) {
  std::string text;
  for (const Column& column : FindColumns("pods")) {
    if (column.name == "Age") break;
    if (column.name == "Name") continue;
    text += (text.empty() ? "" : " ") + GetString(column.cell(pod, Time()));
  }
  return text;
}

// A pod of two containers, or with what is said of its spec.
Json Pod(const std::string& status, const std::string& spec = "{}") {
  Json pod = {{"spec", Json::parse(spec)}, {"status", Json::parse(status)}};
  pod["spec"]["containers"] = Json::parse(R"([{"name":"a"},{"name":"b"}])");
  return pod;
}

TEST(PodColumnsTest, Containers) {
  const struct {
    std::string statuses;
    std::string expected;
  } tests[] = {
      {"", "0/2 Running 0"},
      {R"({"name": "a", "ready": true, "state": {"running": {}}},
          {"name": "b", "ready": true, "state": {"running": {}}})",
       "2/2 Running 0"},
      {R"({"name": "a", "restartCount": 3, "ready": true},
          {"name": "b", "restartCount": 1, "ready": false})",
       "1/2 Running 4"},
      {R"({"name": "b", "state": {"terminated": {"reason": "Completed"}}})",
       "0/2 Completed 0"},
      // The first one's word is the last.
      {R"({"name": "b", "state": {"waiting": {"reason": "No"}}},
          {"name": "a", "state": {"waiting": {"reason": "CrashLoopBackOff"}}})",
       "0/2 CrashLoopBackOff 0"},
  };
  for (const auto& test : tests) {
    EXPECT_EQ(Print(Pod(R"({"phase": "Running", "containerStatuses": [)" +
                        test.statuses + "]}")),
              test.expected)
        << test.statuses;
  }
}

TEST(PodColumnsTest, OfInitContainersSidecarsCount) {
  EXPECT_EQ(Print(Pod(R"({"phase": "Running", "initContainerStatuses": [
                {"name": "init", "restartCount": 5,
                 "state": {"terminated": {"reason": "Completed"}}},
                {"name": "sidecar", "ready": true, "restartCount": 1}]})",
                      R"({"initContainers": [{"name": "init"},
                {"name": "sidecar", "restartPolicy": "Always"}]})")),
            "1/3 Running 1");
}

TEST(PodColumnsTest, ReadinessGates) {
  const auto print = [](const Json& pod) {
    return FindColumns("pods").back().cell(pod, Time());
  };
  EXPECT_EQ(print(Pod("{}")), "<none>");
  EXPECT_EQ(print(Pod(R"({"conditions": [{"type": "x", "status": "True"}]})",
                      R"({"readinessGates": [{"conditionType": "x"},
                                             {"conditionType": "y"}]})")),
            "1/2");
}

TEST(PodColumnsTest, Phase) {
  EXPECT_EQ(Print(Pod(R"({"phase": "Pending"})")), "0/2 Pending 0");
  EXPECT_EQ(Print(Pod(R"({"phase": "Failed", "reason": "Evicted"})")),
            "0/2 Evicted 0");
  EXPECT_EQ(Print(Pod(R"({"phase": "Pending", "conditions": [
      {"type": "PodScheduled", "status": "False",
       "reason": "SchedulingGated"}]})")),
            "0/2 SchedulingGated 0");
}

TEST(PodColumnsTest, Deletion) {
  const struct {
    std::string status;
    std::string expected;
  } tests[] = {
      {R"({"phase": "Running"})", "0/2 Terminating 0"},
      {R"({"phase": "Succeeded"})", "0/2 Succeeded 0"},
  };
  for (const auto& test : tests) {
    Json pod = Pod(test.status);
    pod["metadata"]["deletionTimestamp"] = "2026-03-01T00:00:00Z";
    EXPECT_EQ(Print(pod), test.expected);
  }
}

}  // namespace
}  // namespace minisched::apiserver
