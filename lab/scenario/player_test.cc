#include "lab/scenario/player.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "lab/scenario/child_process.h"
#include "lab/scenario/player_testing.h"

namespace minisched::scenario {
namespace {

using Json = nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(PlayerTest, AScenarioThatPassesIsCleanedUp) {
  const TinyScheduler scheduler(Config(), OnA);
  const Result result = Play(R"(
steps:
- create: {pods: web, replicas: 3}
- expect:
  - {pods: web-*, node: a}
  - {pods: web-*, phase: Running}
- delete: {pods: web-1, grace: 0}
- expect: {pods: web-1, gone: true}
- create: {pods: web-1}
- expect: {pods: web-*, count: 3, bound: true}
  for: 50ms
- create: {pods: gated, spec: {schedulingGates: [{name: example.com/g}]}}
- patch: {pod: gated, merge: {spec: {schedulingGates: []}}}
- expect: {pods: gated, bound: true}
- expect: {order: [web-*, gated]}
)");
  EXPECT_FALSE(result.failure) << result.failure->found;
  ExpectNothingLeft();
  EXPECT_THAT(output_.str(), HasSubstr("nodes a, b\n"
                                       "  create 3 pods web-1 … web-3\n"
                                       "  expect pods web-*: node a ✓"));
  EXPECT_THAT(output_.str(), HasSubstr("\n  passed in "));
}

TEST_F(PlayerTest, AFailureListsThePodsWithTheirNodes) {
  const TinyScheduler scheduler(Config(), OnA);
  const Result result = Play(R"(
steps:
- create: {pods: web, replicas: 2}
- expect: {pods: web-*, notNode: a}
)");
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->expected, "pods web-*: notNode a");
  EXPECT_THAT(result.failure->found, HasSubstr("are on other nodes: "));
  EXPECT_THAT(result.failure->pods, Contains(HasSubstr("web-1: on a")));
  ExpectNothingLeft();
  EXPECT_THAT(output_.str(),
              HasSubstr("    expected: pods web-*: notNode a\n"));
}

TEST_F(PlayerTest, FailsIfAnExpectationIsNotMetWithinItsTime) {
  const Result result = Play(R"(
steps:
- create: {pods: web}
- expect: {pods: web, bound: true}
  within: 20ms
)");
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->found, "1 of 1 are not bound: web: no node");
}

TEST_F(PlayerTest, FailsIfAnExpectationDoesNotHoldForItsTime) {
  std::atomic<bool> go = false;
  const TinyScheduler scheduler(Config(),
                                [&](const Pod&) { return go ? "a" : ""; });
  std::jthread later([&] {
    while (Names("/api/v1/pods").empty()) std::this_thread::yield();
    RealClock().SleepFor(std::chrono::milliseconds(500), {});
    go = true;
  });
  const Result result = Play(R"(
steps:
- create: {pods: web}
- expect: {pods: web, bound: false}
  for: 60s
)");
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->expected, "pods web: bound false, for 1m");
  EXPECT_THAT(result.failure->found, HasSubstr("1 of 1 are bound: web: on a"));
}

TEST_F(PlayerTest, ThroughoutFailsOnAStateBetweenSteps) {
  const TinyScheduler scheduler(Config(), OnA);
  const Result result = PlayFile(R"(
nodes: [{names: a, allocatable: {pods: 2}}]
throughout: [{overcommitted: false}]
steps:
- create: {pods: web, replicas: 3}
- wait: 30s
)");
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->expected, "throughout: overcommitted false");
  EXPECT_THAT(result.failure->found, HasSubstr("a: 3 pods requested"));
  ExpectNothingLeft();
}

TEST_F(PlayerTest, StartsStopsAndKillsTheScheduler) {
  const std::string starts = directory_.path() / "starts";
  options_.kubeconfig = "/a/kubeconfig";
  options_.scheduler_name = "mine";
  options_.scheduler =
      "echo $KUBECONFIG $SCHEDULER_NAME >>" + starts + "; exec sleep 1000";
  // Binds a pod when the scheduler has been started as often as the pod's name
  // says.
  const TinyScheduler scheduler(
      Config(),
      [&](const Pod& pod) {
        static const std::map<std::string, std::ptrdiff_t> kLines = {
            {"once", 1}, {"twice", 2}, {"thrice", 3}};
        const std::string text = LastLines(starts, 9);
        const auto lines = std::count(text.begin(), text.end(), '\n');
        const bool go = lines == kLines.at(pod.metadata.name);
        return go ? "a" : "";
      },
      "mine");
  const Result result = Play(R"(
steps:
- create: {pods: once}
- expect: {pods: once, bound: true}
- scheduler: restart
- create: {pods: twice}
- expect: {pods: twice, bound: true}
- scheduler: kill
- create: {pods: thrice}
- expect: {pods: thrice, bound: false}
- scheduler: start
- expect: {pods: thrice, bound: true}
- scheduler: stop
)");
  EXPECT_FALSE(result.failure) << result.failure->found;
  EXPECT_EQ(LastLines(starts, 9),
            "/a/kubeconfig mine\n/a/kubeconfig mine\n/a/kubeconfig mine\n");
}

// The second replica binds the pods while the first one is paused.
TEST_F(PlayerTest, HasSeveralReplicas) {
  const std::string ends = directory_.path() / "ends";
  options_.scheduler = "trap 'echo $METRICS_PORT >>" + ends +
                       "; exit 1' TERM CONT; while :; do sleep 0.1; done";
  const TinyScheduler scheduler(Config(), [&](const Pod& pod) {
    const std::string text = LastLines(ends, 9);
    const auto lines = std::count(text.begin(), text.end(), '\n');
    return lines == (pod.metadata.name == "first" ? 0 : 1) ? "a" : "";
  });
  const Result result = Play(R"(
steps:
- scheduler: {start: 2}
- create: {pods: first}
- expect: {pods: first, bound: true}
- scheduler: {pause: 1}
- wait: 200ms
- scheduler: {resume: 1}
- create: {pods: second}
- expect: {pods: second, bound: true}
  for: 300ms
- scheduler: {stop: 2}
)");
  EXPECT_FALSE(result.failure) << result.failure->found;
  const std::string ports = LastLines(ends, 9);
  ASSERT_EQ(std::count(ports.begin(), ports.end(), '\n'), 2) << ports;
  EXPECT_NE(ports.substr(0, ports.find('\n') + 1),
            ports.substr(ports.find('\n') + 1));
}

TEST_F(PlayerTest, StartsTheSchedulerWithTheFlagsOfTheScenario) {
  const std::string arguments = directory_.path() / "arguments";
  options_.scheduler =
      "exec sh -c 'echo $@ >" + arguments + "; exec sleep 1000' sh --fast";
  const TinyScheduler scheduler(Config(), [&](const Pod& /*pod*/) {
    return LastLines(arguments, 9) == "--fast --plugin ours\n" ? "a" : "";
  });
  const Result result = Play(R"(
flags: --plugin ours
steps:
- create: {pods: web}
- expect: {pods: web, bound: true}
)");
  EXPECT_FALSE(result.failure) << result.failure->found;
}

TEST_F(PlayerTest, LeavesOutTheFlagsOfTheScenarioWithNoFlags) {
  const std::string arguments = directory_.path() / "arguments";
  options_.scheduler =
      "exec sh -c 'echo $@ >" + arguments + "; exec sleep 1000' sh --fast";
  options_.no_flags = true;
  const TinyScheduler scheduler(Config(), [&](const Pod& /*pod*/) {
    return LastLines(arguments, 9) == "--fast\n" ? "a" : "";
  });
  const Result result = Play(R"(
flags: --plugin ours
steps:
- create: {pods: web}
- expect: {pods: web, bound: true}
)");
  EXPECT_FALSE(result.failure) << result.failure->found;
}

class ConfiguredPlayerTest : public PlayerTest {
 protected:
  // Plays a scenario with flags and a configuration. Returns the arguments of
  // the scheduler.
  std::string Arguments() {
    const std::string file = directory_.path() / "arguments";
    options_.scheduler =
        "exec sh -c 'echo $@ >" + file + "; exec sleep 1000' sh --fast";
    const TinyScheduler scheduler(
        Config(),
        [&](const Pod& /*pod*/) {
          return LastLines(file, 9).empty() ? "" : "a";
        },
        options_.scheduler_name);
    Play(R"(
flags: --plugin ours
config:
  parallelism: 4
steps:
- create: {pods: web}
- expect: {pods: web, bound: true}
)");
    return LastLines(file, 9);
  }
};

TEST_F(ConfiguredPlayerTest, WritesTheConfigurationOfTheScenario) {
  options_.kubeconfig = "/a/kubeconfig";
  options_.scheduler_name = "mine";
  const std::string file = directory_.path() / "scheduler.json";
  EXPECT_EQ(Arguments(), "--fast --config " + file + "\n");
  const Json config = Json::parse(LastLines(file, 99));
  EXPECT_EQ(config["parallelism"], 4);
  EXPECT_EQ(config["clientConnection"]["kubeconfig"], "/a/kubeconfig");
  EXPECT_EQ(config["profiles"][0]["schedulerName"], "mine");
}

TEST_F(ConfiguredPlayerTest, AppendsTheFlagsInsteadWithNoConfig) {
  options_.no_config = true;
  EXPECT_EQ(Arguments(), "--fast --plugin ours\n");
}

TEST_F(ConfiguredPlayerTest, AppendsNothingWithNoFlags) {
  options_.no_flags = true;
  EXPECT_EQ(Arguments(), "--fast\n");
}

TEST_F(PlayerTest, ReportsHowARunningSchedulerMustBeConfigured) {
  Play("flags: --ours\nconfig: {parallelism: 4}\nsteps: [{wait: 1ms}]\n");
  EXPECT_THAT(output_.str(),
              HasSubstr("  the scheduler must run with --ours, or with the "
                        "configuration {\"parallelism\":4}\n"));
}

TEST_F(PlayerTest, LetsTheSchedulerRunOnAfterTheScenario) {
  const std::string file = directory_.path() / "written";
  options_.scheduler = "sleep 0.2; echo late >" + file + "; exec sleep 1000";
  options_.linger = std::chrono::seconds(1);
  const Result result = Play("steps: [{wait: 1ms}]\n");
  EXPECT_FALSE(result.failure) << result.failure->found;
  EXPECT_LT(result.took, std::chrono::seconds(1));
  EXPECT_EQ(LastLines(file, 1), "late\n");
}

TEST_F(PlayerTest, FailsIfTheSchedulerExits) {
  options_.scheduler = "echo oh; exit 3";
  const Result result = Play("steps: [{wait: 60s}]\n");
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->found, "it exited with exit code 3");
  EXPECT_EQ(result.failure->log, "oh\n");
  ExpectNothingLeft();
}

TEST_F(PlayerTest, CountsRequestsOfOtherClients) {
  const TinyScheduler scheduler(Config(), OnA);
  Result result = Play(R"(
steps:
- create: {pods: web, replicas: 2}
- expect: {pods: web-*, bound: true}
- expect: {requests: {verb: create, resource: pods/binding, atLeast: 2}}
- mark: requests
- expect: {requests: {verb: create, resource: pods/binding, atMost: 0}}
- expect: {requests: {verb: list, resource: pods, atLeast: 3}}
)");
  EXPECT_FALSE(result.failure) << result.failure->found;
  result = Play("steps: [{expect: {requests: {atMost: 5}}, for: 60s}]\n");
  ASSERT_TRUE(result.failure);
  EXPECT_THAT(result.failure->found, HasSubstr(" requests"));
}

TEST_F(PlayerTest, AFailureListsTheEventsOfItsPods) {
  const TinyScheduler scheduler(Config(), [this](const Pod& pod) {
    Post("/apis/events.k8s.io/v1/namespaces/" + pod.metadata.namespace_name +
             "/events",
         Json({{"metadata", {{"name", pod.metadata.name + ".1"}}},
               {"eventTime", "2024-01-01T00:00:00.000000Z"},
               {"type", "Warning"},
               {"reason", "FailedScheduling"},
               {"action", "Scheduling"},
               {"reportingController", "tiny"},
               {"reportingInstance", "tiny-1"},
               {"note", "no luck"},
               {"regarding",
                {{"kind", "Pod"},
                 {"namespace", pod.metadata.namespace_name},
                 {"name", pod.metadata.name}}}})
             .dump());
    return "";
  });
  const Result result = Play(R"(
steps:
- create: {pods: web}
- expect: {pods: web, event: {reason: FailedScheduling, message: no luck}}
- expect: {pods: web, bound: true}
  within: 1ms
)");
  ASSERT_TRUE(result.failure);
  EXPECT_THAT(result.failure->pods,
              ElementsAre(HasSubstr("web: no node"),
                          "  Warning FailedScheduling (x1): no luck"));
}

TEST_F(PlayerTest, RetriesWhileTheServerIsAway) {
  const TinyScheduler scheduler(Config(), OnA);
  const Result result = Play(R"(
steps:
- server: {away: 300ms}
- create: {pods: early, replicas: 3}
- server: {away: 300ms}
- expect: {requests: {atLeast: 1}}
- expect: {pods: early-*, event: {reason: None}, count: 0}
  within: 1ms
)");
  ASSERT_TRUE(result.failure);
  const Result again = Play(R"(
steps:
- create: {pods: web}
- server: {away: 300ms}
- mark: requests
- server: {away: 300ms}
- delete: {pods: web}
- server: compact
- server: {away: 300ms}
- expect: {pods: web, gone: true}
- server: {away: 300ms}
)");
  EXPECT_FALSE(again.failure) << again.failure->found;
  ExpectNothingLeft();
}

TEST_F(PlayerTest, FaultsDoNotAffectThePlayer) {
  const TinyScheduler scheduler(Config(), OnA);
  const Result result = Play(R"(
faults: [{match: {resource: pods/binding}, error: {code: 504}}]
steps:
- create: {pods: web}
- expect: {pods: web, bound: false}
  for: 100ms
- faults: [{drop: before, probability: 0.2}]
- create: {pods: more, replicas: 10}
- expect: {pods: '*', bound: true}
)");
  EXPECT_FALSE(result.failure) << result.failure->found;
  ExpectNothingLeft();
}

TEST_F(PlayerTest, WritesScenariosAndResultsAsLinesOfJson) {
  const Scenario scenario{.file = "f.yaml", .title = "T"};
  EXPECT_EQ(
      ToJsonLine(scenario),
      R"({"file":"f.yaml","title":"T","since":0,"notUpstream":"",)"
      R"("needsConfig":false,"needsEmbedded":false,"needsScheduler":false,)"
      R"("needsMetrics":false})");
  Result result;
  EXPECT_EQ(ToJsonLine(scenario, result),
            R"({"file":"f.yaml","title":"T","passed":true,"seconds":0.0})");
  result.failure = {.expected = "e", .found = "f", .pods = {"p"}, .log = "l\n"};
  EXPECT_EQ(Json::parse(ToJsonLine(scenario, result))["failure"],
            Json::parse(R"({"expected":"e","found":"f","pods":["p"],
                            "log":"l\n"})"));
}

}  // namespace
}  // namespace minisched::scenario
