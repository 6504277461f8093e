#include "lab/scenario/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/scenario/errors.h"
#include "lab/scenario/files_testing.h"
#include "minisched/api/json.h"
#include "minisched/api/node.h"

namespace minisched::scenario {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr char kHead[] =
    "title: T\n"
    "why: W\n"
    "since: 1\n";

class ScenarioTest : public testing::Test {
 protected:
  Scenario Read(const std::string& text) {
    return ReadScenario(directory_.Write("s.yaml", text));
  }

  // Returns the error for a scenario with this text, without the file's name:
  // "4:1: …".
  std::string Complaint(const std::string& text) {
    const std::string file = directory_.Write("s.yaml", text);
    try {
      ReadScenario(file);
    } catch (const CannotPlay& error) {
      const std::string what = error.what();
      EXPECT_THAT(what, testing::StartsWith(file + ":"));
      EXPECT_EQ(what.find('\n'), std::string::npos) << what;
      return what.substr(file.size() + 1);
    }
    return "no complaint";
  }
  // Returns the error for a scenario with the required head and this rest.
  std::string ComplaintOf(const std::string& rest) {
    return Complaint(kHead + rest);
  }
  // Returns the error for an expectation in a scenario with the nodes a and b
  // and the pods web-1 to web-3.
  std::string ComplaintOfExpectation(const std::string& expectation) {
    return ComplaintOf(
        "nodes: [{names: [a, b]}]\n"
        "steps:\n"
        "- create: {pods: web, replicas: 3}\n"
        "- expect: " +
        expectation + "\n");
  }

  const TestDirectory directory_;
};

TEST_F(ScenarioTest, ReadsEveryField) {
  directory_.Write("pod.yaml",
                   "apiVersion: v1\nkind: Pod\nmetadata: {name: filed}\n");
  const Scenario scenario = Read(R"(
title: A title
why: >
  A reason.
since: 3
notUpstream: a plugin of ours
flags: --plugin ours
config: {parallelism: 4, profiles: [{schedulerName: a}, {}]}
programs:
- {name: sensors, command: python3 sensors.py, port: 8888}
nodes:
- names: [node-1, node-2]
- {names: node-3, unschedulable: true}
throughout:
- overcommitted: false
steps:
- create: {pods: web, replicas: 2}
- apply: {file: pod.yaml}
- patch: {pod: web-1, merge: {metadata: {labels: {a: b}}}}
- patch: {kind: PriorityClass, apiVersion: scheduling.k8s.io/v1, name: p,
          json: [], subresource: status}
- delete: {pods: web-*, grace: 0}
- cordon: node-2
- uncordon: node-2
- wait: 1.5s
- scheduler: restart
- stop: sensors
- start: sensors
- server: compact
- server: {away: 2s}
- mark: requests
- faults: [{drop: before}]
- expect: {order: [web-1, web-2]}
  within: 1m
  for: 3s
)");
  EXPECT_EQ(scenario.title, "A title");
  EXPECT_EQ(scenario.why, "A reason.\n");
  EXPECT_EQ(scenario.since, 3);
  EXPECT_EQ(scenario.not_upstream, "a plugin of ours");
  EXPECT_EQ(scenario.flags, "--plugin ours");
  EXPECT_EQ(scenario.config,
            R"({"parallelism":4,"profiles":[{"schedulerName":"a"},{}]})");
  EXPECT_EQ(scenario.nodes.size(), 3U);
  EXPECT_EQ(scenario.throughout.size(), 1U);
  EXPECT_TRUE(scenario.needs_embedded);
  EXPECT_TRUE(scenario.needs_scheduler);
  std::vector<std::string> texts;
  for (const Step& step : scenario.steps) texts.push_back(step.text);
  EXPECT_THAT(
      texts,
      ElementsAre(
          "create 2 pods web-1 … web-2", "apply pod filed",
          "patch pods web-1 with {metadata: {labels: {a: b}}}",
          "patch PriorityClass p with ", "delete pods web-*", "cordon node-2",
          "uncordon node-2", "wait 1.5s", "restart the scheduler",
          "stop sensors", "start sensors", "compact the server's history",
          "make the server unreachable for 2s", "count requests from here",
          "set the server's faults: {drop: before}", "expect for 3s"));
  const auto& expect = std::get<Expect>(scenario.steps.back().action);
  EXPECT_EQ(expect.within, seconds(60));
  EXPECT_EQ(expect.hold_for, seconds(3));
  EXPECT_EQ(expect.all[0].text, "order web-1, web-2");
}

TEST_F(ScenarioTest, OptionalFieldsAreEmptyByDefault) {
  const Scenario scenario =
      Read(std::string(kHead) + "steps: [{create: {pods: a}}]\n");
  EXPECT_THAT(scenario.nodes, IsEmpty());
  EXPECT_FALSE(scenario.faults);
  EXPECT_FALSE(scenario.needs_embedded);
  EXPECT_FALSE(scenario.needs_scheduler);
}

TEST_F(ScenarioTest, ReadsFaultsThatApplyFromTheStart) {
  const Scenario scenario = Read(
      std::string(kHead) +
      "faults: {seed: 7, faults: [{drop: before}]}\nsteps: [{wait: 1s}]\n");
  ASSERT_TRUE(scenario.faults);
  EXPECT_EQ(scenario.faults->document,
            R"({"faults":[{"drop":"before"}],"seed":7})");
  EXPECT_TRUE(scenario.needs_embedded);
}

TEST_F(ScenarioTest, ReadsTheImagesOfNodesWithTheirSizesInBytes) {
  const Scenario scenario =
      Read(std::string(kHead) +
           "nodes:\n"
           "- {names: [a, b], images: {\"web:1\": 2Gi, \"web:2\": 500}}\n"
           "- {names: c}\n"
           "steps: [{wait: 1s}]\n");
  ASSERT_EQ(scenario.nodes.size(), 3U);
  for (const int i : {0, 1}) {
    const auto images = FromJson<Node>(scenario.nodes[i].json).status.images;
    ASSERT_EQ(images.size(), 2U) << i;
    EXPECT_THAT(images[0].names, ElementsAre("web:1"));
    EXPECT_EQ(images[0].size_bytes, 2147483648);
    EXPECT_THAT(images[1].names, ElementsAre("web:2"));
    EXPECT_EQ(images[1].size_bytes, 500);
  }
  EXPECT_THAT(FromJson<Node>(scenario.nodes[2].json).status.images, IsEmpty());
}

TEST_F(ScenarioTest, RejectsImagesWithoutAValidSize) {
  EXPECT_EQ(ComplaintOf("nodes:\n- {names: a, images: [\"web:1\"]}\n"),
            "5:22: images: expected a map");
  EXPECT_THAT(ComplaintOf("nodes:\n- names: a\n  images: {web: 1, b: big}\n"),
              HasSubstr("6:23: b: "));
  EXPECT_EQ(ComplaintOf("nodes:\n- {names: a, images: {b: 10E}}\n"),
            "5:26: b: the size does not fit in 64 bits");
}

TEST_F(ScenarioTest, RejectsAFileThatIsNotAScenario) {
  EXPECT_THROW(ReadScenario(directory_.path() / "none.yaml"), CannotPlay);
  EXPECT_EQ(Complaint(""), "1:1: expected one YAML document, found 0");
  EXPECT_EQ(Complaint("a: 1\n---\nb: 2\n"),
            "1:1: expected one YAML document, found 2");
  EXPECT_EQ(Complaint("- a\n"),
            "1:1: a scenario: expected a map, found a list");
  EXPECT_THAT(Complaint("title: T\nwhy: [\n"),
              HasSubstr("3:1: end of sequence flow"));
  EXPECT_EQ(Complaint("title: T\nwhy: W\ntitle: U\n"),
            "3:1: duplicate key \"title\"");
  EXPECT_EQ(Complaint("title: T\n"), "1:1: \"why\" is missing");
  EXPECT_EQ(Complaint("title: T\nwhy: W\nsince: one\n"),
            "3:8: since: expected a whole number from 1 to 100000, found "
            "\"one\"");
}

TEST_F(ScenarioTest, RejectsYamlThatHasNoJsonForm) {
  EXPECT_EQ(ComplaintOf("steps: &a [*a]\n"),
            " line 4, column 12: an anchor contains itself");
  EXPECT_EQ(ComplaintOf("steps: [{? [wait] : 1s}]\n"),
            " line 4, column 12: a key must be a scalar");
}

TEST_F(ScenarioTest, RejectsInAConfigurationWhatThePlayerSets) {
  EXPECT_EQ(ComplaintOf("config:\n  leaderElection: {leaderElect: true}\n"),
            "5:3: the player sets leaderElection: leave it out");
  EXPECT_EQ(ComplaintOf("config: {clientConnection: {kubeconfig: k}}\n"),
            "4:29: the player sets kubeconfig: leave it out");
  EXPECT_EQ(ComplaintOf("config: {kind: KubeSchedulerConfiguration}\n"),
            "4:10: the player sets kind: leave it out");
  EXPECT_EQ(ComplaintOf("config: 1\n"), "4:9: config: expected a map, found 1");
}

// Unlike `config` in the scenario, the file is complete.
TEST_F(ScenarioTest, ReadsAConfigurationFromAFile) {
  directory_.Write("config.yaml",
                   "kind: KubeSchedulerConfiguration\nparallelism: 4\n"
                   "leaderElection: {leaderElect: true}\n");
  const Scenario scenario = Read(
      "title: t\nwhy: w\nsince: 1\nconfig: config.yaml\n"
      "steps: [{wait: 1s}]\n");
  EXPECT_EQ(scenario.config,
            R"({"kind":"KubeSchedulerConfiguration",)"
            R"("leaderElection":{"leaderElect":true},"parallelism":4})");
}

TEST_F(ScenarioTest, RejectsAConfigurationFileThatCannotBeRead) {
  EXPECT_THAT(ComplaintOf("config: none.yaml\n"),
              AllOf(HasSubstr("4:9: "),
                    HasSubstr("/none.yaml: No such file or directory")));
  directory_.Write("config.yaml", "- a list\n");
  EXPECT_THAT(
      ComplaintOf("config: config.yaml\n"),
      AllOf(HasSubstr("4:9: "), HasSubstr("/config.yaml: expected a Ku")));
}

TEST_F(ScenarioTest, ReadsPrograms) {
  const Scenario scenario =
      Read(std::string(kHead) +
           "programs:\n"
           "- {name: sensors, command: python3 sensors.py, port: 8888}\n"
           "- {name: another, command: ./another, port: 8889}\n"
           "steps: [{stop: another}, {start: another}]\n");
  ASSERT_EQ(scenario.programs.size(), 2U);
  EXPECT_EQ(scenario.programs[0].name, "sensors");
  EXPECT_EQ(scenario.programs[0].command, "python3 sensors.py");
  EXPECT_EQ(scenario.programs[0].port, 8888);
  const auto& stop = std::get<ProgramAction>(scenario.steps[0].action);
  EXPECT_EQ(stop.name, "another");
  EXPECT_FALSE(stop.start);
  EXPECT_TRUE(std::get<ProgramAction>(scenario.steps[1].action).start);
}

TEST_F(ScenarioTest, RejectsProgramsThatAreInvalidOrUnknown) {
  EXPECT_EQ(ComplaintOf("programs: [{name: a, command: b, port: 0}]\n"),
            "4:40: port: expected a whole number from 1 to 100000, found 0");
  EXPECT_EQ(ComplaintOf("programs: [{name: a, command: b, port: 1},\n"
                        "  {name: a, command: b, port: 2}]\n"),
            "5:10: duplicate program a");
  EXPECT_EQ(ComplaintOf("programs: [{name: a, command: b, port: 1},\n"
                        "  {name: b, command: b, port: 1}]\n"),
            "5:31: the program a has this port");
  EXPECT_EQ(ComplaintOf("steps: [{stop: a}]\n"),
            "4:16: this scenario has no program a");
}

TEST_F(ScenarioTest, RejectsUnknownKeys) {
  EXPECT_EQ(ComplaintOf("step: []\n"),
            "4:1: unknown key \"step\"; known keys: config, faults, flags, "
            "nodes, notUpstream, programs, since, steps, throughout, title, "
            "why");
  EXPECT_THAT(ComplaintOf("steps:\n- create: {pods: a, replica: 2}\n"),
              HasSubstr("5:21: unknown key \"replica\"; known keys: annot"));
  EXPECT_THAT(ComplaintOf("nodes: [{name: a}]\n"),
              HasSubstr("4:10: unknown key \"name\"; known keys: allocatable"));
  EXPECT_THAT(ComplaintOf("steps:\n- dance: true\n"),
              HasSubstr("5:3: expected one of these keys: create, apply"));
  EXPECT_EQ(ComplaintOf("steps:\n- wait: 1s\n  cordon: a\n"),
            "5:3: \"wait\" cannot be combined with \"cordon\"");
  EXPECT_THAT(ComplaintOf("steps:\n- wait: 1s\n  for: 2s\n"),
              HasSubstr("6:3: unknown key \"for\""));
}

TEST_F(ScenarioTest, RejectsValuesOfTheWrongType) {
  EXPECT_THAT(ComplaintOf("steps:\n- wait: soon\n"), HasSubstr("5:9: "));
  EXPECT_EQ(ComplaintOf("steps:\n- scheduler: halt\n"),
            "5:14: scheduler: expected start or stop or kill or restart or "
            "pause or resume, found \"halt\"");
  EXPECT_THAT(ComplaintOf("steps:\n- scheduler: {start: 0}\n"),
              HasSubstr("start: expected a whole number from 1"));
  EXPECT_THAT(ComplaintOf("steps:\n- scheduler: {start: 2, stop: 1}\n"),
              HasSubstr("cannot be combined with"));
  EXPECT_THAT(ComplaintOf("steps:\n- scheduler: {halt: 2}\n"),
              HasSubstr("unknown key \"halt\""));
  EXPECT_EQ(ComplaintOf("steps: []\n"),
            "4:8: steps: expected a non-empty list, found a list");
  EXPECT_THAT(ComplaintOf("steps:\n- create: {pods: a, replicas: 0}\n"),
              HasSubstr("5:31: replicas: expected a whole number from 1"));
}

TEST_F(ScenarioTest, RejectsMissingAndIncompleteManifests) {
  EXPECT_THAT(ComplaintOf("steps:\n- create: {file: none.yaml}\n"),
              HasSubstr("/none.yaml: No such file or directory"));
  EXPECT_THAT(ComplaintOf("steps:\n- create: {file: none.yaml}\n"),
              HasSubstr("5:18: "));
  EXPECT_THAT(ComplaintOf("steps:\n- create: {file: .}\n"),
              HasSubstr("/.: Is a directory"));
  directory_.Write("half.yaml", "apiVersion: v1\nkind: Pod\n");
  EXPECT_THAT(ComplaintOf("steps:\n- create: {file: half.yaml}\n"),
              HasSubstr("half.yaml: the manifest has no name"));
  directory_.Write("empty.yaml", "");
  EXPECT_THAT(ComplaintOf("steps:\n- create: {file: empty.yaml}\n"),
              HasSubstr("empty.yaml: the file has no objects"));
}

TEST_F(ScenarioTest, RejectsRequestsUnlessContainersAreMaps) {
  for (const std::string containers :
       {"7", "[]", "[7]", "[{resources: 7}]", "[{resources: [7]}]"}) {
    EXPECT_THAT(ComplaintOf("steps:\n- create: {pods: a, requests: {cpu: 1}, "
                            "spec: {containers: " +
                            containers + "}}\n"),
                HasSubstr("5:47: containers: expected a list of maps"))
        << containers;
  }
}

TEST_F(ScenarioTest, AddsRequestsToResourcesThatAreNull) {
  const Scenario scenario =
      Read(std::string(kHead) +
           "steps:\n- create: {pods: a, requests: {cpu: 1}, "
           "spec: {containers: [{name: c, image: i, resources: }]}}\n");
  const auto& create = std::get<Create>(scenario.steps.at(0).action);
  EXPECT_THAT(create.objects.at(0).json,
              HasSubstr(R"("requests":{"cpu":"1"})"));
}

TEST_F(ScenarioTest, NumbersNodesWithReplicas) {
  const Scenario scenario = Read(std::string(kHead) +
                                 "nodes: [{names: [a, b], replicas: 2}, "
                                 "{names: c}]\nsteps: [{wait: 1s}]\n");
  std::vector<std::string> names;
  for (const Manifest& node : scenario.nodes) names.push_back(node.name);
  EXPECT_THAT(names, ElementsAre("a-1", "a-2", "b-1", "b-2", "c"));
  EXPECT_THAT(ComplaintOf("nodes: [{names: a, replicas: 0}]\n"),
              HasSubstr("replicas: expected a whole number from 1"));
}

TEST_F(ScenarioTest, RejectsNodesTheScenarioDoesNotDeclare) {
  EXPECT_EQ(ComplaintOf("nodes: [{names: [a, a]}]\n"), "4:9: duplicate node a");
  EXPECT_EQ(ComplaintOf("nodes: [{names: a}]\nsteps:\n- cordon: b\n"),
            "6:11: this scenario has no node b");
  EXPECT_THAT(ComplaintOf("steps:\n- cordon: b\n"),
              HasSubstr("5:11: a scenario that creates or changes nodes must "
                        "declare its own"));
  EXPECT_THAT(
      ComplaintOf("steps:\n- delete: {apiVersion: v1, kind: Node, name: b}\n"),
      HasSubstr("5:46: a scenario that creates or changes nodes"));
  EXPECT_THAT(ComplaintOf("steps:\n- create: {apiVersion: v1, kind: Node, "
                          "metadata: {name: b}}\n"),
              HasSubstr("a scenario that creates or changes nodes"));
}

TEST_F(ScenarioTest, RejectsImpossibleExpectations) {
  const std::map<std::string, std::string> complaints = {
      {"{pods: web-*, node: c}", "7:31: this scenario has no node c"},
      {"{pods: db, bound: true}",
       "7:18: no step before this one creates a pod db"},
      {"{pods: web-1}", "7:11: no expectation for these pods"},
      {"{pods: web-*, bound: false, node: a}",
       "7:39: \"node\" contradicts \"bound\""},
      {"{pods: web-*, bound: 0, spread: {nodes: 1}}",
       "7:35: \"spread\" contradicts \"bound\""},
      {"{pods: web-*, pending: no, bound: true}",
       "7:34: pending: expected a string, found false"},
      {"{pods: web-*, pending: a, bound: true}",
       "7:37: \"bound\" contradicts \"pending\""},
      {"{pods: web-*, pending: a, notNode: a}",
       "7:37: \"notNode\" contradicts \"pending\""},
      {"{pods: web-*, gone: true, phase: Running}",
       "7:37: \"phase\" contradicts \"gone\""},
      {"{pods: web-*, gone: false}",
       "7:31: gone: must be true; leave it out, or use \"count\""},
      {"{pods: web-*, count: 2, bound: 3}", "7:42: more than \"count\""},
      {"{pods: web-*, spread: {nodes: 3}}",
       "7:41: the scenario has only 2 nodes"},
      {"{pods: web-*, spread: {by: zone}}", "7:34: \"by\" needs \"skew\""},
      {"{order: web-1}", "7:19: expected two globs or more"},
      {"{requests: {verb: list}}",
       "7:22: \"atMost\" or \"atLeast\" is missing"},
      {"{requests: {atMost: 1, atLeast: 2}}", "7:43: more than \"atMost\""},
      {"{metric: a_total, labels: {b: c}}",
       "7:11: \"atMost\", \"atLeast\" or \"equals\" is missing"},
      {"{metric: 'a{b=\"c\"}', atMost: 1}",
       R"(7:20: "a{b=\"c\"}" is not the name of a metric)"},
      {"{metric: a, atMost: 1, equals: 1}",
       "7:23: \"atMost\" contradicts \"equals\""},
      {"{metric: a, atMost: 1, atLeast: 1.5}", "7:43: more than \"atMost\""},
      {"{metric: a, atMost: many}",
       "7:31: atMost: expected a number, found \"many\""},
      {"{metric: a, labels: [b], atMost: 1}",
       "7:31: labels: expected a map, found a list"},
      {"{metric: a, label: {b: c}, atMost: 1}",
       "7:23: unknown key \"label\"; known keys: atLeast, atMost, equals, "
       "labels, metric"},
      {"{overcommitted: true}",
       "7:27: overcommitted: expected false, found true"},
      {"{pods: web-*, order: [web-1, web-2]}",
       "7:25: \"order\" cannot be combined with \"pods\""},
  };
  for (const auto& [expectation, complaint] : complaints) {
    std::string found = ComplaintOfExpectation(expectation);
    if (found != complaint) {
      ADD_FAILURE() << expectation << "\n  " << found << "\n  " << complaint;
    }
  }
}

TEST_F(ScenarioTest, ReadsMetrics) {
  const Scenario scenario = Read(std::string(kHead) + R"(
steps:
- expect:
  - {metric: a_total, labels: {event: F*, code: 200}, atMost: 7}
  - {metric: b, equals: 0.5}
)");
  EXPECT_TRUE(scenario.needs_metrics);
  EXPECT_FALSE(scenario.needs_embedded);
  EXPECT_FALSE(scenario.needs_scheduler);
  const auto& all = std::get<Expect>(scenario.steps[0].action).all;
  EXPECT_EQ(all[0].text,
            "metric a_total: atMost 7, labels {code: 200, event: F*}");
  const auto& metric = std::get<MetricExpectation>(all[0].what);
  EXPECT_EQ(metric.name, "a_total");
  EXPECT_THAT(metric.labels,
              ElementsAre(Pair("code", "200"), Pair("event", "F*")));
  EXPECT_EQ(metric.at_most, 7);
  EXPECT_EQ(std::get<MetricExpectation>(all[1].what).equals, 0.5);
}

TEST_F(ScenarioTest, AMarkOfMetricsNeedsMetrics) {
  const Scenario scenario =
      Read(std::string(kHead) + "steps: [{mark: metrics}]\n");
  EXPECT_TRUE(scenario.needs_metrics);
  EXPECT_FALSE(scenario.needs_embedded);
  EXPECT_EQ(scenario.steps[0].text, "count metrics from here");
}

TEST_F(ScenarioTest, PodsOfADeploymentMayHaveAnyName) {
  EXPECT_EQ(ComplaintOf("steps:\n"
                        "- create: {apiVersion: apps/v1, kind: Deployment, "
                        "metadata: {name: web}}\n"
                        "- expect: {pods: web-*, bound: true}\n"),
            "no complaint");
}

TEST_F(ScenarioTest, RejectsRulesThatNoStateBreaksPermanently) {
  const std::string rest =
      "steps:\n- create: {pods: web}\n"
      "throughout:\n- overcommitted: false\n";
  EXPECT_EQ(ComplaintOf(rest + "- {pods: web, bound: false}\n"),
            "no complaint");
  for (const std::string rule :
       {"{pods: web, bound: true}", "{requests: {atMost: 1}}",
        "{metric: a_total, atMost: 1}",
        "{pods: web, event: {reason: Scheduled}, bound: false}"}) {
    EXPECT_THAT(ComplaintOf(rest + "- " + rule + "\n"),
                HasSubstr("8:3: throughout: no state of pods and nodes"))
        << rule;
  }
}

TEST_F(ScenarioTest, RejectsFaultsTheServerWouldReject) {
  EXPECT_THAT(ComplaintOf("faults:\n- {drop: before, probability: 2}\n"),
              HasSubstr("5:18: faults[0].probability: must be from 0 to 1"));
  EXPECT_THAT(ComplaintOf("faults:\n  faults:\n"
                          "  - {drop: before, match: {verbs: [list, look]}}\n"),
              HasSubstr("6:42: faults[0].match.verbs[1]: must be one of"));
  EXPECT_THAT(ComplaintOf("steps:\n- faults:\n  - {error: {after: true}}\n"),
              HasSubstr("6:6: faults[0].error.code: is required"));
  EXPECT_THAT(ComplaintOf("steps:\n- faults:\n  - {drops: before}\n"),
              HasSubstr("6:6: faults[0].drops: unknown field"));
  EXPECT_THAT(ComplaintOf("faults: 3\n"), HasSubstr("4:"));
}

std::string StepsComplaint(const std::string& text) {
  try {
    ParseSteps(text, "--what-if");
  } catch (const CannotPlay& error) {
    return error.what();
  }
  return "no complaint";
}

TEST(ParseStepsTest, ReadsOneStepOrAList) {
  const std::vector<Step> one = ParseSteps("uncordon: node-2", "--what-if");
  ASSERT_EQ(one.size(), 1);
  EXPECT_EQ(one[0].text, "uncordon node-2");
  const auto& patch = std::get<Patch>(one[0].action);
  EXPECT_EQ(patch.object.name, "node-2");
  EXPECT_EQ(patch.patch, R"({"spec":{"unschedulable":null}})");
  EXPECT_EQ(ParseSteps("[cordon: a, create: {pods: b}]", "x").size(), 2);
}

TEST(ParseStepsTest, StepsMayNameANamespace) {
  const auto steps =
      ParseSteps("delete: {pod: a, namespace: other, grace: 0}", "--what-if");
  EXPECT_EQ(std::get<Delete>(steps[0].action).objects.namespace_name, "other");
}

TEST_F(ScenarioTest, ScenariosHaveTheirOwnNamespace) {
  EXPECT_THAT(ComplaintOf("steps:\n- delete: {pod: a, namespace: other}\n"),
              HasSubstr("unknown key \"namespace\""));
}

TEST(ParseStepsTest, RejectsOtherSteps) {
  for (const std::string step :
       {"wait: 1s", "expect: {pods: a}", "scheduler: stop", "mark: requests",
        "server: compact", "faults: []"}) {
    EXPECT_THAT(StepsComplaint(step), testing::StartsWith("--what-if:1:1: "))
        << step;
  }
  EXPECT_THAT(StepsComplaint("- cordon: a\n- wait: 1s"),
              testing::StartsWith("--what-if:2:3: expected one of these keys"));
  EXPECT_THAT(StepsComplaint("cordon: a\nwait: 1s"),
              testing::StartsWith("--what-if:2:1: "));
  EXPECT_THAT(StepsComplaint("3"), testing::StartsWith("--what-if:1:1: "));
  EXPECT_THAT(StepsComplaint(""), testing::StartsWith("--what-if:1:1: "));
}

}  // namespace
}  // namespace minisched::scenario
