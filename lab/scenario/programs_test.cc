#include "lab/scenario/programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "lab/scenario/errors.h"
#include "lab/scenario/player_testing.h"
#include "minisched/client/errors.h"

namespace minisched::scenario {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

// A program that accepts connections. It writes nothing before the first one.
constexpr char kServe[] =
    "exec python3 -m http.server --bind 127.0.0.1 $PORT 2>&1";

class ProgramsTest : public testing::Test {
 protected:
  Scenario ScenarioWith(const std::string& command) const {
    return {.file = directory_.path() / "my-test.yaml",
            .programs = {{"sensors", command, 8888}}};
  }
  // Starts a program that fails to start, and returns why.
  std::string StartError(const std::string& command) const {
    const Scenario scenario = ScenarioWith(command);
    Programs programs(scenario, directory_.path(), true);
    try {
      programs.Start("sensors", {});
    } catch (const CannotPlay& error) {
      return error.what();
    }
    return "no error";
  }

  const TestDirectory directory_;
};

TEST_F(ProgramsTest, EachProgramGetsAFreePort) {
  Scenario scenario = ScenarioWith("true");
  scenario.programs.push_back({"another", "true", 9999});
  const Programs programs(scenario, directory_.path(), true);
  const Programs others(scenario, directory_.path(), true);
  ASSERT_EQ(programs.ports().size(), 2U);
  EXPECT_NE(programs.ports().at(8888), programs.ports().at(9999));
  EXPECT_NE(programs.ports().at(8888), others.ports().at(8888));
}

TEST_F(ProgramsTest, KeepsThePortsOfTheScenarioWithoutFreePorts) {
  const Scenario scenario = ScenarioWith("true");
  const Programs programs(scenario, directory_.path(), false);
  EXPECT_EQ(programs.ports(), (std::map<int, int>{{8888, 8888}}));
}

TEST_F(ProgramsTest, StartsInTheDirectoryOfTheScenario) {
  directory_.Write("greeting", "hello\n");
  const Scenario scenario =
      ScenarioWith(std::string("cat greeting\n") + kServe);
  Programs programs(scenario, directory_.path(), true);
  EXPECT_TRUE(programs.Logs().empty());
  programs.Start("sensors", {});
  EXPECT_THAT(programs.Logs()["sensors"], HasSubstr("hello\n"));
}

TEST_F(ProgramsTest, AStoppedProgramCanStartAgainOnItsPort) {
  const Scenario scenario = ScenarioWith(kServe);
  Programs programs(scenario, directory_.path(), true);
  programs.Start("sensors", {});
  programs.Start("sensors", {});  // no effect
  programs.Check();
  programs.Stop("sensors");
  programs.Stop("sensors");  // no effect
  programs.Check();
  programs.Start("sensors", {});
  programs.Check();
}

TEST_F(ProgramsTest, AProgramThatDoesNotStartIsOneLine) {
  EXPECT_THAT(StartError("exit 0"),
              MatchesRegex(".* exit code 0 before it accepted connections on "
                           "port [0-9]+"));
  EXPECT_THAT(StartError("echo first; echo 'no such file' >&2; exit 3"),
              MatchesRegex("the program sensors exited with exit code 3 before "
                           "it accepted connections on port [0-9]+: no such "
                           "file"));
  EXPECT_THAT(StartError("no-such-program"),
              HasSubstr("exit code 127 before it accepted"));
}

TEST_F(ProgramsTest, CheckThrowsIfAProgramHasExited) {
  const Scenario scenario = ScenarioWith(
      "python3 -c 'import os, socket\n"
      "server = socket.create_server((\"127.0.0.1\", "
      "int(os.environ[\"PORT\"])))"
      "\nserver.accept()'\nexit 3");
  Programs programs(scenario, directory_.path(), true);
  programs.Start("sensors", {});
  const auto deadline = RealClock().Now() + std::chrono::seconds(20);
  std::string message;
  while (message.empty() && RealClock().Now() < deadline) {
    try {
      programs.Check();
    } catch (const CannotPlay& error) {
      message = error.what();
    }
  }
  EXPECT_EQ(message, "the program sensors exited with exit code 3");
}

TEST_F(ProgramsTest, AStopRequestEndsTheWait) {
  const Scenario scenario = ScenarioWith("exec sleep 1000");
  Programs programs(scenario, directory_.path(), true);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(programs.Start("sensors", stop.get_token()), Cancelled);
}

TEST_F(PlayerTest, RunsTheProgramsOfTheScenario) {
  // A scheduler that reads the extender's URL from its configuration.
  options_.scheduler = R"(exec python3 -c '
import json, sys, time, urllib.request
url = json.load(open(sys.argv[2]))["extenders"][0]["urlPrefix"]
try:
  urllib.request.urlopen(url).read()
  print("connected", flush=True)
except OSError:
  print("refused", flush=True)
time.sleep(1000)')";
  const auto log = [this] {
    for (const auto& entry :
         std::filesystem::directory_iterator(directory_.path())) {
      const std::string file = entry.path();
      if (file.find("scenario-my-test") != std::string::npos) {
        return LastLines(file, 1);
      }
    }
    return std::string();
  };
  const TinyScheduler scheduler(Config(), [&](const Pod& pod) {
    const std::string expected =
        pod.metadata.name == "web" ? "connected\n" : "refused\n";
    return log() == expected ? "a" : "";
  });
  const Result result = Play(std::string(R"(
programs:
- {name: sensors, port: 8888, command: 'echo up; )") +
                             kServe + R"('}
config: {extenders: [{urlPrefix: 'http://localhost:8888/'}]}
steps:
- create: {pods: web}
- expect: {pods: web, bound: true}
- stop: sensors
- scheduler: restart
- create: {pods: late}
- expect: {pods: late, bound: true}
- start: sensors
- expect: {pods: late, bound: false}
  within: 1ms
)");
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->expected, "pods late: bound false");
  EXPECT_THAT(result.failure->program_logs.at("sensors"),
              HasSubstr("\"GET / HTTP/1.1\" 200"));
  EXPECT_THAT(output_.str(), HasSubstr("  start sensors: echo up; exec "));
  EXPECT_THAT(output_.str(), HasSubstr("\n  stop sensors\n"));
  EXPECT_THAT(output_.str(), HasSubstr("    the last lines of sensors:\n"));
  ExpectNothingLeft();
}

TEST_F(PlayerTest, AProgramThatDoesNotStartCannotBePlayed) {
  options_.scheduler = "exec sleep 1000";
  EXPECT_THAT(Refusal("programs: [{name: p, command: exit 3, port: 8888}]\n"
                      "steps: [{wait: 1s}]\n"),
              HasSubstr("the program p exited with exit code 3 before it"));
  ExpectNothingLeft();
}

}  // namespace
}  // namespace minisched::scenario
