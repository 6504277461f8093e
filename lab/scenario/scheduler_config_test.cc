#include "lab/scenario/scheduler_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "lab/scenario/child_process.h"
#include "lab/scenario/errors.h"
#include "lab/scenario/files_testing.h"

namespace minisched::scenario {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

Json Complete(const std::string& text,
              const RunSettings& settings = {.kubeconfig = "/the/kubeconfig",
                                             .scheduler_name = "mine"}) {
  return Json::parse(CompleteSchedulerConfig(text, "f.yaml", settings));
}

std::string CompletionError(const std::string& text) {
  try {
    Complete(text);
  } catch (const CannotPlay& error) {
    return error.what();
  }
  return "no complaint";
}

TEST(SchedulerConfigTest, AddsWhatARunNeeds) {
  EXPECT_EQ(Complete("parallelism: 4\n"), Json::parse(R"({
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "parallelism": 4,
    "leaderElection": {"leaderElect": false},
    "clientConnection": {"kubeconfig": "/the/kubeconfig",
                         "contentType": "application/json",
                         "acceptContentTypes": "application/json"},
    "profiles": [{"schedulerName": "mine"}]})"));
}

TEST(SchedulerConfigTest, ReplacesTheClusterAndLeaderElection) {
  const Json config = Complete(R"(
apiVersion: example.com/v7
kind: Other
clientConnection: {kubeconfig: /etc/other, qps: 7}
leaderElection: {leaderElect: true, leaseDuration: 1m}
)");
  EXPECT_EQ(config["apiVersion"], "example.com/v7");
  EXPECT_EQ(config["kind"], "Other");
  EXPECT_EQ(config["clientConnection"]["kubeconfig"], "/the/kubeconfig");
  EXPECT_EQ(config["clientConnection"]["qps"], 7);
  EXPECT_EQ(config["leaderElection"],
            Json({{"leaderElect", false}, {"leaseDuration", "1m"}}));
}

TEST(SchedulerConfigTest, NamesProfilesWithoutAName) {
  const Json config = Complete(
      "profiles: [{}, {schedulerName: minisched}, {schedulerName: batch}]");
  EXPECT_EQ(config["profiles"], Json::parse(R"([{"schedulerName": "mine"},
    {"schedulerName": "mine"}, {"schedulerName": "batch"}])"));
}

TEST(SchedulerConfigTest, KeepsClusterAndNamesWithoutSettings) {
  const Json config = Complete(
      "clientConnection: {kubeconfig: own}\n"
      "profiles: [{}, {schedulerName: minisched}]",
      {});
  EXPECT_EQ(config["clientConnection"]["kubeconfig"], "own");
  EXPECT_EQ(config["profiles"],
            Json::parse(R"([{}, {"schedulerName": "minisched"}])"));
  EXPECT_FALSE(Complete("a: 1", {}).contains("profiles"));
}

TEST(SchedulerConfigTest, LeavesWrongTypesToTheScheduler) {
  const Json config =
      Complete("clientConnection: no\nleaderElection: [1]\nprofiles: [3, {}]");
  EXPECT_EQ(config["clientConnection"], false);
  EXPECT_EQ(config["leaderElection"], Json({1}));
  EXPECT_EQ(config["profiles"],
            Json::parse(R"([3, {"schedulerName": "mine"}])"));
  EXPECT_EQ(Complete("profiles: x")["profiles"], "x");
}

TEST(SchedulerConfigTest, MovesExtendersOnThisMachineToTheirPorts) {
  const Json config = Complete(
      "extenders:\n"
      "- urlPrefix: http://127.0.0.1:8888/api\n"
      "- urlPrefix: https://localhost:8888\n"
      "- urlPrefix: http://localhost:88\n"
      "- urlPrefix: http://example.com:8888/\n"
      "- urlPrefix: 8888\n"
      "- filterVerb: filter\n"
      "- 8888\n",
      {.extender_ports = {{8888, 40000}}});
  EXPECT_EQ(config["extenders"], Json::parse(R"([
    {"urlPrefix": "http://127.0.0.1:40000/api"},
    {"urlPrefix": "https://localhost:40000"},
    {"urlPrefix": "http://localhost:88"},
    {"urlPrefix": "http://example.com:8888/"},
    {"urlPrefix": 8888},
    {"filterVerb": "filter"},
    8888])"));
  EXPECT_EQ(Complete("extenders: x")["extenders"], "x");
}

TEST(SchedulerConfigTest, RejectsWhatIsNoMap) {
  for (const char* const text : {"", "[1]", "a: 1\n---\nb: 2\n", "x"}) {
    EXPECT_EQ(CompletionError(text),
              "f.yaml: expected a KubeSchedulerConfiguration, as one map");
  }
  EXPECT_THAT(CompletionError("a: [\n"), HasSubstr("f.yaml: line 2"));
  EXPECT_EQ(CompletionError("profiles:\n- plugins: 1\n  plugins: 2\n"),
            "f.yaml: line 2: profiles[0].plugins: the field is repeated");
}

TEST(SchedulerConfigTest, TheCommandGetsTheFile) {
  const TestDirectory directory;
  const std::string file = directory.path() / "a file";
  EXPECT_EQ(WithConfigFlag("exec x", "{}\n", file),
            "exec x --config '" + file + "'");
  EXPECT_EQ(LastLines(file, 9), "{}\n");
  EXPECT_THROW(WithConfigFlag("exec x", "{}", "/nowhere/file"), CannotPlay);
}

}  // namespace
}  // namespace minisched::scenario
