#include "lab/live/simulator_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "minisched/trace/records.h"
#include "minisched/trace/result_annotations.h"

namespace minisched::live {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Json = nlohmann::json;

Labels Annotations(const Labels& short_names) {
  Labels results;
  for (const auto& [name, value] : short_names) {
    results["kube-scheduler-simulator.sigs.k8s.io/" + name] = value;
  }
  return results;
}

// Returns an attempt whose filters come in the order of their runs.
Attempt FullAttempt() {
  return {.pod = "ns/a",
          .uid = "u",
          .number = 1,
          .filters = {"NodeName", "Fit"},
          .fits = {"n1", "n2"},
          .scores = {{.plugin = "S", .raw = {7, 9}, .normalized = {70, 90}}},
          .rejected = {{"n3", {{"Fit", {"Insufficient cpu"}}}},
                       {"n4", {{"NodeName", {"wrong name"}}}}},
          .points = {{"PreFilter", "Fit", "Success", ""},
                     {"PreScore", "S", "Skip", ""},
                     {"Permit", "P", "Wait", "1m0s"},
                     {"Bind", "B", "Success", ""}},
          .node = "n2",
          .all_nodes = 4,
          .feasible_nodes = 2,
          .reasons = {{"Fit", "Insufficient cpu", 1},
                      {"NodeName", "wrong name", 1}}};
}

TEST(SimulatorResultsTest, ReadsTheAnnotationsThatAStepWrites) {
  Pod pod;
  pod.metadata = {.name = "a", .namespace_name = "ns", .uid = "u"};
  EXPECT_EQ(AttemptRecord(AttemptOf(ResultAnnotations(FullAttempt())),
                          pod.metadata, 1, Time()),
            Json::parse(ToJsonLine({.sequence = 1, .state = FullAttempt()})));
}

TEST(SimulatorResultsTest, AnAttemptWithoutANodeHasFailed) {
  const Attempt attempt = AttemptOf(
      Annotations({{"filter-result", R"({"a":{"F":"no"},"b":{"F":"no"}})"},
                   {"selected-node", ""}}));
  EXPECT_EQ(attempt.failure, "0/2 nodes are available: 2 no.");
  EXPECT_EQ(attempt.node, "");
}

TEST(SimulatorResultsTest, AFailureAfterFilterIsTheFailure) {
  const Attempt attempt = AttemptOf(
      Annotations({{"selected-node", "n"}, {"bind-result", R"({"B":"no"})"}}));
  EXPECT_EQ(attempt.failure, "no");
  EXPECT_EQ(attempt.points.at(0).status, "Failed");
}

TEST(SimulatorResultsTest, IgnoresMalformedAnnotations) {
  for (const char* text : {"", "[", "[1]", R"({"a":1})", R"({"a":{"b":1}})"}) {
    const Attempt attempt = AttemptOf(
        Annotations({{"filter-result", text}, {"score-result", text}}));
    EXPECT_THAT(attempt.fits, IsEmpty()) << text;
  }
}

Pod AnnotatedPod(const Labels& annotations) {
  Pod pod;
  pod.metadata = {.name = "a", .namespace_name = "ns", .uid = "u"};
  pod.metadata.annotations = annotations;
  return pod;
}

// Returns the numbers and nodes of the attempts.
std::vector<std::string> DescribeAttempts(const std::vector<Json>& records) {
  std::vector<std::string> texts;
  for (const Json& record : records) {
    const Json& attempt = record["attempt"];
    EXPECT_EQ(attempt["pod"], "ns/a");
    EXPECT_EQ(attempt["uid"], "u");
    texts.push_back(attempt["attempt"].dump() + " " +
                    attempt["node"].get<std::string>());
  }
  return texts;
}

TEST(SimulatorResultsTest, ReturnsEachAttemptOnce) {
  SimulatorResults results;
  EXPECT_THAT(results.Read(AnnotatedPod({{"other", "x"}}), {}), IsEmpty());
  for (const char* node : {"n1", "n2"}) {
    const Pod pod = AnnotatedPod(Annotations({{"selected-node", node}}));
    EXPECT_THAT(results.Read(pod, {}), SizeIs(1));
    EXPECT_THAT(results.Read(pod, {}), IsEmpty());
  }
}

TEST(SimulatorResultsTest, ForgetsAPod) {
  SimulatorResults results;
  const Pod pod = AnnotatedPod(Annotations({{"selected-node", "n"}}));
  EXPECT_THAT(results.Read(pod, {}), SizeIs(1));
  results.Forget(pod.metadata.uid);
  EXPECT_THAT(results.Read(pod, {}), SizeIs(1));
}

TEST(SimulatorResultsTest, ReadsTheHistory) {
  const auto entry = [](const std::string& node) {
    return R"({"kube-scheduler-simulator.sigs.k8s.io/selected-node":")" + node +
           "\"}";
  };
  const auto pod = [&](const std::string& first, const std::string& second) {
    return AnnotatedPod(Annotations(
        {{"selected-node", second},
         {"result-history", "[" + entry(first) + "," + entry(second) + "]"}}));
  };
  SimulatorResults results;
  EXPECT_THAT(DescribeAttempts(results.Read(pod("n1", "n2"), {})),
              ElementsAre("1 n1", "2 n2"));
  // The history has lost its oldest entry.
  EXPECT_THAT(DescribeAttempts(results.Read(pod("n2", "n3"), {})),
              ElementsAre("3 n3"));
}

TEST(SimulatorResultsTest, ReadsTheMessageOfAnEvent) {
  const std::string message =
      "0/12 nodes are available: 1 Insufficient cpu, 11 node(s) had "
      "untolerated "
      "taint(s). preemption: 0/12 nodes are available: 12 No victims.";
  const Json record = AttemptRecord(FailedAttempt(message), {}, 1, {});
  const Json& attempt = record["attempt"];
  EXPECT_EQ(attempt["allNodes"], 12);
  EXPECT_EQ(attempt["failure"], message);
  const Json reasons = Json::parse(R"~([
      {"plugin": "", "reason": "Insufficient cpu", "nodes": 1},
      {"plugin": "", "reason": "node(s) had untolerated taint(s)",
       "nodes": 11}])~");
  EXPECT_EQ(attempt["reasons"], reasons);
}

TEST(SimulatorResultsTest, KeepsAMessageThatItCannotRead) {
  const Attempt attempt = FailedAttempt("no nodes available");
  EXPECT_EQ(attempt.failure, "no nodes available");
  EXPECT_EQ(attempt.all_nodes, 0);
  EXPECT_THAT(attempt.reasons, IsEmpty());
}

}  // namespace
}  // namespace minisched::live
