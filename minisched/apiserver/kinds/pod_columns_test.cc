#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "minisched/apiserver/kinds/columns.h"

namespace minisched::apiserver {
namespace {

// "1/2 Running 3 (5m ago)"
std::string Print(const Json& pod) {
  const Time now = ParseTime("2026-03-01T01:00:00Z");
  const Columns columns = PodColumns();
  std::string text;
  for (const char* name : {"Ready", "Status", "Restarts"}) {
    const auto column =
        std::find_if(columns.begin(), columns.end(),
                     [&](const Column& c) { return c.name == name; });
    text += (text.empty() ? "" : " ") + GetString(column->cell(pod, now));
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
  const std::string running =
      R"({"ready": true, "restartCount": 0, "state": {"running": {}}})";
  const std::string done =
      R"({"state": {"terminated": {"exitCode": 0, "reason": "Completed"}}})";
  const struct {
    std::string statuses;
    std::string expected;
  } tests[] = {
      {"", "0/2 Running 0"},
      {running + "," + running, "2/2 Running 0"},
      {done + "," + done, "0/2 Completed 0"},
      // One is done: what the others do counts.
      {done + "," + running, "1/2 NotReady 0"},
      {done + R"(,{"state": {"terminated": {"exitCode": 2}}})",
       "0/2 ExitCode:2 0"},
      {running + R"(,{"state": {"terminated": {"exitCode": 137,
                                               "signal": 9}}})",
       "1/2 Signal:9 0"},
      // The first one's word is the last.
      {R"({"state": {"waiting": {"reason": "ErrImagePull"}}},
          {"state": {"waiting": {"reason": "ContainerCreating"}}})",
       "0/2 ErrImagePull 0"},
      {R"({"restartCount": 3, "state": {"running": {}}, "ready": true},
          {"restartCount": 1, "state": {"running": {}}, "ready": false})",
       "1/2 Running 4"},
  };
  for (const auto& test : tests) {
    EXPECT_EQ(Print(Pod(R"({"phase": "Running", "containerStatuses": [)" +
                        test.statuses + "]}")),
              test.expected)
        << test.statuses;
  }
  Json ready = Pod(R"({"phase": "Running", "containerStatuses": [)" + done +
                   "," + running + "]}");
  ready["status"]["conditions"] = {{{"type", "Ready"}, {"status", "True"}}};
  EXPECT_EQ(Print(ready), "1/2 Running 0");
}

TEST(PodColumnsTest, InitContainers) {
  const std::string spec = R"({"initContainers": [
      {"name": "sidecar", "restartPolicy": "Always"}, {"name": "init"}]})";
  const std::string up =
      R"({"name": "sidecar", "ready": true, "started": true, "restartCount": 1,
          "state": {"running": {}}},)";
  const struct {
    std::string statuses;
    std::string expected;
  } tests[] = {
      {R"({"name": "sidecar", "state": {"running": {}}})", "0/3 Init:0/2 0"},
      {R"({"name": "sidecar", "state": {"waiting": {"reason": "NoGo"}}})",
       "0/3 Init:NoGo 0"},
      {up + R"({"name": "init", "restartCount": 2,
                "state": {"waiting": {"reason": "PodInitializing"}}})",
       "1/3 Init:1/2 3"},
      {up + R"({"name": "init", "state": {"terminated": {"exitCode": 4}}})",
       "1/3 Init:ExitCode:4 1"},
      {up + R"({"name": "init",
                "state": {"terminated": {"exitCode": 1, "reason": "Error"}}})",
       "1/3 Init:Error 1"},
      // Once all is initialized, only sidecars' restarts count.
      {up + R"({"name": "init", "restartCount": 5,
                "state": {"terminated": {"exitCode": 0}}})",
       "1/3 Pending 1"},
  };
  for (const auto& test : tests) {
    EXPECT_EQ(Print(Pod(R"({"phase": "Pending", "initContainerStatuses": [)" +
                            test.statuses + "]}",
                        spec)),
              test.expected)
        << test.statuses;
  }
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
