#include "lab/explain/scheduler_run.h"

#include <gmock/gmock.h>

#include <chrono>

#include "lab/explain/errors.h"
#include "lab/explain/experiment_testing.h"
#include "lab/scenario/scenario.h"

namespace minisched::explain {
namespace {

using Json = nlohmann::json;

using ::testing::HasSubstr;
using ::testing::StartsWith;

Outcome RunTrial(
    const Experiment& experiment,
    std::chrono::milliseconds patience = std::chrono::seconds(20)) {
  Trial trial(experiment, {}, {});
  return trial.Run(RealClock().Now() + patience, {});
}

Outcome RunWeb(const std::string& scheduler,
               std::chrono::milliseconds patience = std::chrono::seconds(20)) {
  return RunTrial(WebExperiment(scheduler), patience);
}

// Returns an experiment whose pod has further members in its status.
Experiment WithStatus(const std::string& members,
                      const std::string& scheduler) {
  Experiment experiment = WebExperiment(scheduler);
  Json list = Json::parse(experiment.objects.manifests[0].json);
  list["items"].back()["status"].update(Json::parse(members));
  experiment.objects.manifests[0].json = list.dump();
  return experiment;
}

std::string SchedulerError(
    const std::string& scheduler,
    std::chrono::milliseconds patience = std::chrono::seconds(20)) {
  try {
    RunWeb(scheduler, patience);
  } catch (const CannotTell& error) {
    return error.what();
  }
  return "no error";
}

constexpr char kAttempt[] =
    R"({"v": 2, "sequence": 1, "scheduler": {"name": "m", "program": "prog"}}
{"v": 2, "sequence": 2, "attempt": {"uid": "other", "failure": "no"}}
{"event": "Add", "resource": {"metadata": {"uid": "u"}}}
{"v": 2, "sequence": 3, "attempt": {"uid": "u", "failure": "0/1 nodes"}})";

TEST(SchedulerRunTest, ReadsTheRecordOfThePod) {
  const Outcome outcome = RunWeb(Recording(kAttempt));
  EXPECT_EQ(outcome.program, "prog");
  EXPECT_EQ(outcome.sentence, "0/1 nodes");
  EXPECT_EQ(outcome.attempt["uid"], "u");
}

TEST(SchedulerRunTest, WaitsForTheBinding) {
  const Outcome outcome = RunWeb(Recording(
      R"({"v": 2, "sequence": 1, "attempt": {"uid": "u", "node": "n"}}
{"v": 2, "sequence": 2, "pod": {"uid": "u", "place": "bound", "node": "n"}})"));
  EXPECT_EQ(outcome.node, "n");
  EXPECT_EQ(outcome.sentence, "");
}

TEST(SchedulerRunTest, ReadsALaterFailureOfTheAttempt) {
  const Outcome outcome = RunWeb(Recording(
      R"({"v": 2, "sequence": 1, "attempt": {"uid": "u", "node": "n"}}
{"v": 2, "sequence": 2, "attempt": {"uid": "u", "node": "n", "failure": "x"}})"));
  EXPECT_EQ(outcome.node, "");
  EXPECT_EQ(outcome.sentence, "x");
}

// Sets $server to the URL of the pod's namespace.
constexpr char kFindServer[] =
    "server=$(sed -n 's/.*server: //p' \"$KUBECONFIG\")"
    "/api/v1/namespaces/default; ";

// The command finds the server and the name in its environment.
std::string Curl(const std::string& method, const std::string& path,
                 const std::string& type, const std::string& body) {
  return kFindServer + ("curl -sS --fail-with-body -X " + method) +
         " -H 'Content-Type: " + type + "' \"$server/pods/web" + path +
         "\" -d '" + body + "' && [ \"$SCHEDULER_NAME\" = mine ]";
}

// `more` are further members of the status.
std::string CurlFailure(const std::string& more = "") {
  return Curl("PATCH", "/status", "application/merge-patch+json",
              R"({"status": {)" + more +
                  R"("conditions": [{"type": "PodScheduled", "status": "False",
          "reason": "Unschedulable", "message": "0/1 nodes"}]}})");
}

std::string CurlNomination() {
  return Curl("PATCH", "/status", "application/merge-patch+json",
              R"({"status": {"nominatedNodeName": "node-1"}})");
}

std::string CurlBinding() {
  return Curl("POST", "/binding", "application/json",
              R"({"metadata": {"name": "web"},
          "target": {"kind": "Node", "name": "node-1"}})");
}

TEST(SchedulerRunTest, WithoutRecordsReadsThePod) {
  const Outcome failed = RunWeb(CurlFailure() + " && exec sleep 60");
  EXPECT_EQ(failed.sentence, "0/1 nodes");
  EXPECT_TRUE(failed.attempt.is_null());
  const Outcome bound = RunWeb(CurlBinding() + " && exec sleep 60");
  EXPECT_EQ(bound.node, "node-1");
  EXPECT_EQ(bound.sentence, "");
}

TEST(SchedulerRunTest, WithoutRecordsTheFirstAttemptCounts) {
  const Outcome outcome =
      RunWeb(CurlFailure(R"("nominatedNodeName": "node-1", )") + " && " +
             CurlBinding() + " && exec sleep 60");
  EXPECT_EQ(outcome.node, "");
  EXPECT_EQ(outcome.sentence, "0/1 nodes");
  EXPECT_EQ(outcome.nominated, "node-1");
}

TEST(SchedulerRunTest, ReadsTheNominatedNode) {
  const Outcome recorded = RunWeb(Recording(
      R"({"v": 2, "sequence": 1, "attempt": {"uid": "u", "failure": "x", "points": [)"
      R"({"point": "PreFilter", "status": "Success", "message": "no"}, )"
      R"({"point": "PostFilter", "status": "Success", "message": "n"}]}})"));
  EXPECT_EQ(recorded.nominated, "n");
  const Outcome read = RunWeb(CurlFailure(R"("nominatedNodeName": "n", )") +
                              " && exec sleep 60");
  EXPECT_EQ(read.nominated, "n");
}

// The server drops the changes of pods that are older than the last 1,000.
TEST(SchedulerRunTest, WithoutRecordsTheFirstAttemptCountsAmongManyPods) {
  Experiment experiment = WebExperiment(CurlFailure() + " && " + CurlBinding() +
                                        " && exec sleep 60");
  Json pods = Json::array();
  for (int i = 0; i < 1001; ++i) {
    pods.push_back(
        {{"apiVersion", "v1"},
         {"kind", "Pod"},
         {"metadata", {{"name", std::to_string(i)}, {"namespace", "default"}}},
         {"spec",
          {{"nodeName", "node-1"},
           {"containers", {{{"name", "c"}, {"image", "i"}}}}}}});
  }
  const Json list = {{"kind", "List"}, {"items", std::move(pods)}};
  experiment.objects.manifests.push_back({list.dump(), "dump"});
  const Outcome outcome = RunTrial(experiment);
  EXPECT_EQ(outcome.node, "");
  EXPECT_EQ(outcome.sentence, "0/1 nodes");
}

TEST(SchedulerRunTest, KeepingAnOldNominatedNodeIsNoPreemption) {
  const std::string members = R"({"nominatedNodeName": "n"})";
  const Outcome kept =
      RunTrial(WithStatus(members, CurlFailure() + " && exec sleep 60"));
  EXPECT_EQ(kept.sentence, "0/1 nodes");
  EXPECT_EQ(kept.nominated, "");
  const Outcome replaced = RunTrial(WithStatus(
      members,
      CurlFailure(R"("nominatedNodeName": "m", )") + " && exec sleep 60"));
  EXPECT_EQ(replaced.nominated, "m");
}

TEST(SchedulerRunTest, WaitsForARecordingThatBeginsWhileThePodIsRead) {
  const Experiment experiment = WebExperiment(
      ": >\"$RECORD\"; " + CurlFailure() + "; " + Recording(kAttempt));
  Trial trial(experiment, {}, {});
  trial.copy().server().SetFaults(
      "faults: [{match: {verbs: [get], userAgent: minisched-explain}, "
      "latency: 1s}]");
  const Outcome outcome =
      trial.Run(RealClock().Now() + std::chrono::seconds(20), {});
  EXPECT_EQ(outcome.attempt["uid"], "u");
}

// ---- Volumes.

// Returns an experiment whose pod has a volume with this claim.
Experiment WithClaim(
    const std::string& scheduler,
    const std::string& claim = R"({"name": "data"})",
    const std::string& spec = "{}",
    const std::string& volume =
        R"({"persistentVolumeClaim": {"claimName": "data"}})") {
  Experiment experiment = WebExperiment(scheduler);
  Json list = Json::parse(experiment.objects.manifests[0].json);
  Json& volumes = list["items"].back()["spec"]["volumes"];
  volumes.push_back(Json::parse(volume));
  volumes[0]["name"] = "data";
  list["items"].push_back({{"apiVersion", "v1"},
                           {"kind", "PersistentVolumeClaim"},
                           {"metadata", Json::parse(claim)},
                           {"spec", Json::parse(spec)}});
  experiment.objects.manifests[0].json = list.dump();
  return experiment;
}

constexpr char kOldClaim[] = R"({"name": "data",
    "annotations": {"volume.kubernetes.io/selected-node": "node-1"}})";

// Gets the object at a path, pipes it through a command, and puts it back.
std::string CurlPut(const std::string& path, const std::string& command) {
  return kFindServer + ("curl -sS \"$server/" + path + "\" | ") + command +
         " | curl -sS --fail-with-body -X PUT -H 'Content-Type: "
         "application/json' --data-binary @- \"$server/" +
         path + "\"";
}

std::string CurlSelectedNode(const std::string& claim = "data") {
  return CurlPut("persistentvolumeclaims/" + claim,
                 R"(sed 's|"metadata":{|&"annotations":)"
                 R"({"volume.kubernetes.io/selected-node":"node-1"},|')");
}

std::string CurlSameClaim() {
  return CurlPut("persistentvolumeclaims/data", "cat");
}

TEST(SchedulerRunTest, WithoutRecordsReadsTheSelectedNodeOfAClaim) {
  const Outcome outcome =
      RunTrial(WithClaim(CurlSelectedNode() + " && exec sleep 60"));
  EXPECT_EQ(outcome.node, "node-1");
  EXPECT_EQ(outcome.sentence, "");
  const Outcome ephemeral = RunTrial(
      WithClaim(CurlSelectedNode("web-data") + " && exec sleep 60",
                R"({"name": "web-data"})", "{}",
                R"({"ephemeral": {"volumeClaimTemplate": {"spec": {}}}})"));
  EXPECT_EQ(ephemeral.node, "node-1");
}

// kube-scheduler keeps such a node, so its update doesn't change the claim.
TEST(SchedulerRunTest, AnOldSelectedNodeCountsOnceTheClaimIsWritten) {
  const Outcome failed = RunTrial(WithClaim(
      "sleep 0.3; " + CurlFailure() + " && exec sleep 60", kOldClaim));
  EXPECT_EQ(failed.node, "");
  EXPECT_EQ(failed.sentence, "0/1 nodes");
  const Outcome kept =
      RunTrial(WithClaim(CurlSameClaim() + " && exec sleep 60", kOldClaim));
  EXPECT_EQ(kept.node, "node-1");
}

TEST(SchedulerRunTest, TheSelectedNodeOfABoundClaimIsNoAnswer) {
  const Outcome outcome =
      RunTrial(WithClaim(CurlSameClaim() + " && sleep 0.3 && " + CurlFailure() +
                             " && exec sleep 60",
                         kOldClaim, R"({"volumeName": "volume"})"));
  EXPECT_EQ(outcome.node, "");
  EXPECT_EQ(outcome.sentence, "0/1 nodes");
}

// If there is a volume for the claim, kube-scheduler writes only the volume.
TEST(SchedulerRunTest, TheNominatedNodeIsTheAnswerOnceAVolumeIsWritten) {
  Experiment experiment = WithClaim(
      CurlNomination() + " && " +
      CurlPut("../../persistentvolumes/local", "cat") + " && exec sleep 60");
  experiment.objects.manifests.push_back(
      {R"({"apiVersion": "v1", "kind": "PersistentVolume",
           "metadata": {"name": "local"}, "spec": {}})",
       "dump"});
  const Outcome outcome = RunTrial(experiment);
  EXPECT_EQ(outcome.node, "node-1");
  EXPECT_EQ(outcome.nominated, "");
}

// A scheduler that writes records shows the node as that of the assumed pod.
TEST(SchedulerRunTest, TheAssumedNodeIsTheAnswerOnceAVolumeIsWritten) {
  const auto place = [](const std::string& name, const std::string& node) {
    return R"(echo '{"v": 2, "sequence": 1, "pod": {"uid": "u", "place": ")" +
           name + R"(", "node": ")" + node + R"("}}' >>"$RECORD"; )";
  };
  const std::string patch =
      kFindServer + std::string(
                        "curl -sS --fail-with-body -X PATCH -H 'Content-Type: "
                        "application/merge-patch+json' --data-binary '{}' "
                        "\"$server/persistentvolumeclaims/data\"");
  const Outcome outcome = RunTrial(
      WithClaim(place("assumed", "node-1") + patch + " && exec sleep 60"));
  EXPECT_EQ(outcome.node, "node-1");
  const Outcome failed = RunTrial(WithClaim(
      place("assumed", "node-1") + place("backoff", "") + patch +
      R"( && sleep 0.3; echo '{"v": 2, "sequence": 1, "attempt": {"uid": "u", )"
      R"("failure": "no"}}' >>"$RECORD"; exec sleep 60)"));
  EXPECT_EQ(failed.node, "");
  EXPECT_EQ(failed.sentence, "no");
}

TEST(SchedulerRunTest, AFailureBeforeTheSelectedNodeCounts) {
  const Outcome outcome =
      RunTrial(WithClaim(CurlFailure(R"("nominatedNodeName": "node-1", )") +
                         " && " + CurlSelectedNode() + " && exec sleep 60"));
  EXPECT_EQ(outcome.node, "");
  EXPECT_EQ(outcome.sentence, "0/1 nodes");
}

TEST(SchedulerRunTest, ASchedulerThatEndsShowsItsLog) {
  EXPECT_EQ(SchedulerError("echo first; echo last >&2; exit 3"),
            "the scheduler ended with exit code 3; the last lines of its "
            "log:\nfirst\nlast");
  EXPECT_EQ(SchedulerError("kill -9 $$"),
            "the scheduler ended with signal 9; it has logged nothing");
  EXPECT_THAT(SchedulerError("/none/scheduler"),
              StartsWith("the scheduler ended with exit code 127; the last "
                         "lines of its log:\n"));
}

TEST(SchedulerRunTest, TheCommandGetsTheConfiguration) {
  const std::string command =
      "sh -c 'cat \"$2\"; grep -q \"kubeconfig.*$KUBECONFIG\" \"$2\" && "
      "grep schedulerName \"$2\"; exit 3' sh";
  const Experiment experiment = WebExperiment(command, "parallelism: 4");
  try {
    RunTrial(experiment);
    FAIL();
  } catch (const CannotTell& error) {
    EXPECT_THAT(error.what(), HasSubstr("\"schedulerName\": \"mine\""));
  }
}

// For example, a new pod with gates has a condition from its creation.
TEST(SchedulerRunTest, IgnoresAConditionFromBeforeTheRun) {
  const std::string members =
      R"({"conditions": [{"type": "PodScheduled", "status": "False",
          "reason": "SchedulingGated", "message": "gated"}]})";
  EXPECT_THROW(RunTrial(WithStatus(members, "exit 4")), CannotTell);
  EXPECT_EQ(RunTrial(WithStatus(members, CurlFailure() + " && exec sleep 60"))
                .sentence,
            "0/1 nodes");
  // kube-scheduler nominates the node before a binding that takes long.
  const Outcome bound =
      RunTrial(WithStatus(members, CurlNomination() + " && sleep 0.3 && " +
                                       CurlBinding() + " && exec sleep 60"));
  EXPECT_EQ(bound.node, "node-1");
  EXPECT_EQ(bound.sentence, "");
}

TEST(SchedulerRunTest, ASchedulerMustTakeThePod) {
  EXPECT_THAT(
      SchedulerError("echo idle; exec sleep 60", std::chrono::milliseconds(50)),
      HasSubstr("has made no attempt at default/web in time: its command must "
                "schedule pods with the schedulerName \"mine\""));
}

TEST(SchedulerRunTest, StopsWhenAsked) {
  const Experiment experiment = WebExperiment("exec sleep 60");
  Trial trial(experiment, {}, {});
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(
      trial.Run(RealClock().Now() + std::chrono::seconds(20), stop.get_token()),
      Cancelled);
}

// ---- Trials.

TEST(TrialTest, PlaysStepsInOrder) {
  Experiment experiment = WebExperiment("");
  experiment.steps = scenario::ParseSteps(
      "[cordon: node-1, create: {pods: other}, delete: {pod: other}]", "x");
  Trial trial(experiment, scenario::ParseSteps("uncordon: node-1", "y"), {});
  const auto node = trial.client().Get<Node>("", "node-1");
  EXPECT_FALSE(node->spec.unschedulable);
  EXPECT_TRUE(node->spec.taints.empty());
  EXPECT_EQ(trial.client().List<Pod>().items.size(), 1);
}

TEST(TrialTest, CordoningAddsTheTaint) {
  const Experiment experiment = WebExperiment("");
  Trial trial(experiment, scenario::ParseSteps("cordon: node-1", "x"), {});
  const auto node = trial.client().Get<Node>("", "node-1");
  ASSERT_EQ(node->spec.taints.size(), 1);
  EXPECT_EQ(node->spec.taints[0].key, "node.kubernetes.io/unschedulable");
}

std::string StepError(const std::string& step) {
  const Experiment experiment = WebExperiment("");
  try {
    Trial(experiment, scenario::ParseSteps(step, "x"), {});
  } catch (const CannotTell& error) {
    return error.what();
  }
  return "no error";
}

TEST(TrialTest, ErrorsNameTheStep) {
  EXPECT_EQ(StepError("delete: {pod: none}"),
            "delete pods none: there is no Pod none in default");
  EXPECT_EQ(StepError("cordon: none"), "cordon none: nodes \"none\" not found");
  EXPECT_THAT(StepError("create: {kind: Pool, apiVersion: x/v1, metadata: "
                        "{name: a}}"),
              HasSubstr("the server has no kind Pool in x/v1"));
  EXPECT_EQ(StepError("delete: {pod: web}"),
            "default/web is not there any more after the steps of --what-if");
}

TEST(TrialTest, ARefusedStepThrowsRefusedStep) {
  const Experiment experiment = WebExperiment("");
  const auto steps = scenario::ParseSteps("cordon: none", "x");
  EXPECT_THROW(Trial(experiment, steps, {}), RefusedStep);
}

TEST(TrialTest, ANodeWithAWrongFieldIsAnError) {
  Experiment experiment = WebExperiment("");
  experiment.objects.manifests.push_back(
      {R"({"apiVersion": "v1", "kind": "Node",
                   "metadata": {"name": "bad"}, "spec": {"taints": 3}})",
       "dump"});
  try {
    const Trial trial(experiment, {}, {});
    FAIL();
  } catch (const CannotTell& error) {
    EXPECT_STREQ(error.what(),
                 "dump: Node bad: json: cannot unmarshal number into "
                 "spec.taints of type array: correct the field");
  }
}

TEST(TrialTest, OtherObjectsWithWrongFieldsAreWarnings) {
  Experiment experiment = WebExperiment("");
  experiment.objects.manifests.push_back(
      {R"({"apiVersion": "v1", "kind": "Service",
                   "metadata": {"name": "s"}, "spec": 3})",
       "dump"});
  Trial trial(experiment, {}, {});
  EXPECT_THAT(trial.copy().warnings(),
              ::testing::ElementsAre(HasSubstr("Service s: json: cannot")));
}

}  // namespace
}  // namespace minisched::explain
