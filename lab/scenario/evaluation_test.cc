#include "lab/scenario/evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "lab/scenario/errors.h"
#include "lab/scenario/expectation_reader.h"
#include "minisched/api/json.h"

namespace minisched::scenario {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using Kind = Verdict::Kind;

// A cluster with two nodes, a and b, to which tests add pods.
class EvaluationTest : public testing::Test {
 protected:
  EvaluationTest() {
    for (const std::string name : {"a", "b"}) {
      state_.nodes[name] = std::make_shared<Node>(
          FromJson<Node>(R"({"metadata":{"name":")" + name +
                         R"("},"status":{"allocatable":{"pods":"2"}}})"));
    }
  }

  // Adds or replaces a pod. Pods with a node are bound in the order of the
  // calls.
  void AddPod(const std::string& name, const std::string& node = "",
              const std::string& status = "{}") {
    state_.created.insert(name);
    state_.pods[name] = std::make_shared<Pod>(
        FromJson<Pod>(R"({"metadata":{"uid":")" + name + R"(","name":")" +
                      name + R"("},"spec":{"nodeName":")" + node +
                      R"("},"status":)" + status + "}"));
    const int moment = static_cast<int>(state_.bound_at.size());
    if (!node.empty()) state_.bound_at[name] = moment;
  }
  void AddUnschedulable(const std::string& name, const std::string& message) {
    AddPod(name, "",
           R"({"phase":"Pending","conditions":[{"type":"PodScheduled",
        "status":"False","reason":"Unschedulable","message":")" +
               message + R"("}]})");
  }

  Verdict Judge(const std::string& expectation) const {
    const Document document("test", expectation);
    return Evaluate(ReadExpectation(Field(document), Known{.other_pods = true}),
                    state_);
  }
  // Returns "met", "not yet: …" or "broken: …".
  std::string Outcome(const std::string& expectation) const {
    const Verdict verdict = Judge(expectation);
    if (verdict.kind == Kind::kMet) return "met" + verdict.found;
    return (verdict.kind == Kind::kBroken ? "broken: " : "not yet: ") +
           verdict.found;
  }

  ClusterState state_;
};

TEST_F(EvaluationTest, AMissingPodMayAppearLater) {
  EXPECT_EQ(Outcome("{pods: p*, bound: false}"), "not yet: no such pods exist");
  EXPECT_EQ(Outcome("{pods: p*, gone: true}"), "met");
  EXPECT_EQ(Outcome("{pods: p*, count: 0}"), "not yet: no such pods exist");
}

TEST_F(EvaluationTest, EveryCreatedPodMustExist) {
  AddPod("p1", "a");
  AddPod("p2", "b");
  state_.pods.erase("p2");
  EXPECT_EQ(Outcome("{pods: p*, bound: true}"), "not yet: p2 does not exist");
  EXPECT_EQ(Outcome("{pods: p1, bound: true}"), "met");
}

TEST_F(EvaluationTest, CountIsExact) {
  AddPod("p1");
  AddPod("p2");
  AddPod("q");
  EXPECT_EQ(Outcome("{pods: p*, count: 2}"), "met");
  EXPECT_EQ(Outcome("{pods: [p*, q], count: 2}"), "not yet: 3 exist");
  EXPECT_EQ(Outcome("{pods: p*, gone: true}"),
            "not yet: 2 of 2 still exist: p1: no node; p2: no node");
}

TEST_F(EvaluationTest, JudgesBound) {
  AddPod("p1", "a");
  AddPod("p2");
  EXPECT_EQ(Outcome("{pods: p*, bound: true}"),
            "not yet: 1 of 2 are not bound: p2: no node");
  EXPECT_EQ(Outcome("{pods: p*, bound: false}"),
            "broken: 1 of 2 are bound: p1: on a");
  EXPECT_EQ(Outcome("{pods: p*, bound: all or none}"),
            "not yet: some are bound, but 1 of 2 are not: p2: no node");
  EXPECT_EQ(Outcome("{pods: p1, bound: all or none}"), "met");
  EXPECT_EQ(Outcome("{pods: p2, bound: all or none}"), "met");
  EXPECT_EQ(Outcome("{pods: p*, bound: 1}"), "met");
  EXPECT_EQ(Outcome("{pods: p*, bound: 2}"), "not yet: 1 of 2 are bound");
  EXPECT_EQ(Outcome("{pods: p*, bound: 0}"), "broken: 1 of 2 are bound");
  EXPECT_EQ(Outcome("{pods: p1, bound: true}"), "met");
  EXPECT_EQ(Outcome("{pods: p2, bound: false}"), "met");
}

TEST_F(EvaluationTest, JudgesNodes) {
  AddPod("p1", "a");
  AddPod("p2");
  EXPECT_EQ(Outcome("{pods: p*, node: a}"),
            "not yet: 1 of 2 are not bound: p2: no node");
  EXPECT_EQ(Outcome("{pods: p*, node: b}"),
            "broken: 1 of 2 are on other nodes: p1: on a");
  EXPECT_EQ(Outcome("{pods: p1, node: [a, b]}"), "met");
  EXPECT_EQ(Outcome("{pods: p1, notNode: b}"), "met");
  EXPECT_EQ(Outcome("{pods: p1, notNode: '*'}"),
            "broken: 1 of 1 are on other nodes: p1: on a");
}

TEST_F(EvaluationTest, AVerdictNamesThePodsThatExplainIt) {
  AddPod("p1", "a");
  AddPod("p2", "b");
  AddPod("p3", "a");
  EXPECT_THAT(Judge("{pods: p*, node: b}").pods, ElementsAre("p1", "p3"));
}

TEST_F(EvaluationTest, NamesTheFirstFewOfManyPods) {
  for (const std::string name : {"p1", "p2", "p3", "p4", "p5"}) AddPod(name);
  EXPECT_THAT(Outcome("{pods: p*, bound: true}"),
              HasSubstr("5 of 5 are not bound: p1: no node; p2: no node; "
                        "p3: no node; …"));
}

TEST_F(EvaluationTest, PendingMatchesTheMessageByPrefixOrGlob) {
  AddUnschedulable("p1", "0/2 nodes are available: 2 Too many pods. More.");
  AddPod("p2");
  AddPod("p3", "a");
  EXPECT_EQ(
      Outcome("{pods: p1, pending: '0/2 nodes are available: 2 Too many '}"),
      "met");
  EXPECT_EQ(Outcome("{pods: p1, pending: '* Too many pods*'}"), "met");
  EXPECT_EQ(Outcome("{pods: p1, pending: 0/3}"),
            "not yet: 1 of 1 have no such condition: p1: no node, "
            "Unschedulable: 0/2 "
            "nodes are available: 2 Too many pods. More.");
  EXPECT_THAT(Outcome("{pods: p2, pending: 0/2}"),
              StartsWith("not yet: 1 of 1 have no such condition"));
  EXPECT_THAT(Outcome("{pods: p3, pending: 0/2}"),
              StartsWith("broken: 1 of 1 are bound"));
}

TEST_F(EvaluationTest, JudgesConditions) {
  AddUnschedulable("p1", "m");
  EXPECT_EQ(Outcome("{pods: p1, condition: {type: PodScheduled}}"), "met");
  EXPECT_EQ(
      Outcome("{pods: p1, condition: {type: PodScheduled, status: 'False', "
              "reason: Unsched*, message: m}}"),
      "met");
  EXPECT_THAT(
      Outcome("{pods: p1, condition: {type: PodScheduled, status: 'True'}}"),
      StartsWith("not yet: 1 of 1 have no such condition"));
  EXPECT_THAT(Outcome("{pods: p1, condition: {type: Ready}}"),
              StartsWith("not yet: 1 of 1 have no such condition"));
}

TEST_F(EvaluationTest, JudgesPhases) {
  AddPod("p1", "a", R"({"phase":"Running"})");
  EXPECT_EQ(Outcome("{pods: p1, phase: Running}"), "met");
  EXPECT_EQ(Outcome("{pods: p1, phase: Failed}"),
            "not yet: 1 of 1 are not Failed: p1: on a, Running");
}

TEST_F(EvaluationTest, JudgesEvents) {
  AddPod("p1");
  AddPod("p2");
  state_.events = [] {
    return std::vector<PodEvent>{
        {"p1", "Warning", "FailedScheduling", "0/2 nodes are available"},
        {"p1", "Warning", "FailedScheduling", "0/1 nodes are available"},
        {"p2", "Normal", "Scheduled", "Successfully assigned"}};
  };
  EXPECT_EQ(Outcome("{pods: p1, event: {reason: FailedScheduling}}"), "met");
  EXPECT_EQ(Outcome("{pods: p1, event: {type: Warning, reason: Failed*, "
                    "message: 0/1, atMost: 1}}"),
            "met");
  EXPECT_EQ(Outcome("{pods: p1, event: {reason: FailedScheduling, atMost: 1}}"),
            "broken: p1 has 2 such events");
  EXPECT_EQ(Outcome("{pods: p*, event: {reason: Scheduled}}"),
            "not yet: 1 of 2 have no such event: p1: no node");
}

TEST_F(EvaluationTest, JudgesTheSpreadOverNodes) {
  AddPod("p1", "a");
  AddPod("p2", "a");
  EXPECT_EQ(Outcome("{pods: p*, spread: {nodes: 1}}"), "met");
  EXPECT_EQ(Outcome("{pods: p*, spread: {nodes: 2}}"),
            "broken: 2 on a, 0 on b");
  EXPECT_EQ(Outcome("{pods: p*, spread: {perNode: 1}}"),
            "broken: 2 on a, 0 on b");
  EXPECT_EQ(Outcome("{pods: p*, spread: {skew: 1}}"), "broken: 2 on a, 0 on b");
  AddPod("p3");
  EXPECT_EQ(Outcome("{pods: p*, spread: {skew: 1}}"),
            "not yet: 2 on a, 0 on b");
  AddPod("p3", "b");
  EXPECT_EQ(Outcome("{pods: p*, spread: {skew: 1, nodes: 2, perNode: 2}}"),
            "met");
}

TEST_F(EvaluationTest, JudgesTheSkewByALabelOfTheNodes) {
  const auto add_node = [this](const std::string& name,
                               const std::string& labels) {
    state_.nodes[name] = std::make_shared<Node>(FromJson<Node>(
        R"({"metadata":{"name":")" + name + R"(","labels":)" + labels + "}}"));
  };
  AddPod("p1", "a");
  EXPECT_EQ(Outcome("{pods: p*, spread: {by: zone, skew: 1}}"),
            "not yet: no node has the label zone");
  add_node("x1", R"({"zone":"x"})");
  add_node("x2", R"({"zone":"x"})");
  add_node("y1", R"({"zone":"y"})");
  EXPECT_EQ(Outcome("{pods: p*, spread: {by: zone, skew: 0}}"), "met");
  AddPod("p2", "x1");
  AddPod("p3", "x2");
  AddPod("p4");
  EXPECT_EQ(Outcome("{pods: p*, spread: {by: zone, skew: 1}}"),
            "not yet: 2 on x, 0 on y");
  AddPod("p4", "y1");
  EXPECT_EQ(Outcome("{pods: p*, spread: {by: zone, skew: 1}}"), "met");
  EXPECT_EQ(Outcome("{pods: p*, spread: {by: zone, skew: 0}}"),
            "broken: 2 on x, 1 on y");
  EXPECT_EQ(Outcome("{pods: p*, spread: {by: zone, skew: 1, perNode: 1}}"),
            "met");
}

TEST_F(EvaluationTest, ASpreadIsNotFinalWhileMorePodsMayCome) {
  AddPod("p1", "a");
  state_.created.insert("p2");
  EXPECT_EQ(Outcome("{pods: p*, spread: {nodes: 2}}"),
            "not yet: p2 does not exist");
  // p1 now counts as the pod of a workload, and the workload may create more.
  state_.created.clear();
  EXPECT_THAT(Outcome("{pods: p*, spread: {nodes: 2}}"), StartsWith("not yet"));
}

TEST_F(EvaluationTest, JudgesTheOrderOfBindings) {
  AddPod("low-1");
  AddPod("high-1");
  EXPECT_EQ(Outcome("{order: [high-*, low-*]}"),
            "not yet: not bound: high-1: no node");
  AddPod("high-1", "a");
  AddPod("high-2", "a");
  AddPod("low-1", "b");
  EXPECT_EQ(Outcome("{order: [high-*, low-*]}"), "met");
  EXPECT_EQ(Outcome("{order: [low-*, high-*]}"),
            "broken: high-1 was bound before low-1");
  EXPECT_THAT(Judge("{order: [low-*, high-*]}").pods,
              ElementsAre("high-1", "low-1"));
}

TEST_F(EvaluationTest, ABoundPodBreaksTheOrderIfAnEarlierPodIsUnbound) {
  AddPod("high-1");
  AddPod("low-1", "a");
  EXPECT_EQ(Outcome("{order: [high-*, low-*]}"),
            "broken: low-1 was bound before high-1");
}

TEST_F(EvaluationTest, PodsBoundAtTheSameMomentSatisfyAnyOrder) {
  AddPod("high-1", "a");
  AddPod("low-1", "a");
  state_.bound_at["high-1"] = state_.bound_at["low-1"];
  EXPECT_EQ(Outcome("{order: [high-*, low-*]}"), "met");
  EXPECT_EQ(Outcome("{order: [low-*, high-*]}"), "met");
}

TEST_F(EvaluationTest, CountsRequestsByVerbAndResource) {
  state_.requests = [] {
    return std::vector<RequestCount>{{"list", "pods", 3},
                                     {"create", "pods/binding", 2},
                                     {"list", "nodes", 1}};
  };
  EXPECT_EQ(Outcome("{requests: {verb: list, atMost: 4}}"), "met");
  EXPECT_EQ(Outcome("{requests: {verb: list, resource: pods, atMost: 2}}"),
            "broken: 3 requests");
  EXPECT_EQ(Outcome("{requests: {resource: pods/binding, atLeast: 3}}"),
            "not yet: 2 requests");
  EXPECT_EQ(Outcome("{requests: {atMost: 6, atLeast: 6}}"), "met");
}

TEST_F(EvaluationTest, JudgesMetrics) {
  state_.metrics = [] {
    return std::vector<Sample>{{"tries_total", {{"event", "Failure"}}, 3},
                               {"tries_total", {{"event", "Add"}}, 4},
                               {"pending", {}, 2},
                               {"odd_total", {}, std::nan("")}};
  };
  EXPECT_EQ(Outcome("{metric: tries_total, atMost: 7, atLeast: 7}"), "met");
  EXPECT_EQ(Outcome("{metric: tries_total, labels: {event: F*}, equals: 3}"),
            "met");
  EXPECT_EQ(Outcome("{metric: pending, equals: 2}"), "met");
  EXPECT_EQ(Outcome("{metric: none_total, equals: 0}"), "met");
  EXPECT_EQ(Outcome("{metric: tries_total, labels: {event: F*}, atLeast: 4}"),
            "not yet: 3: 3 {event=\"Failure\"}");
  EXPECT_EQ(Outcome("{metric: none_total, atLeast: 0.5}"),
            "not yet: 0: the scheduler has no such series");
  EXPECT_EQ(Outcome("{metric: odd_total, atMost: 7}"), "not yet: nan: nan {}");
}

TEST_F(EvaluationTest, OnlyACounterBreaksAnUpperBound) {
  state_.metrics = [] {
    return std::vector<Sample>{{"tries_total", {}, 3}, {"pending", {}, 3}};
  };
  EXPECT_EQ(Outcome("{metric: tries_total, atMost: 2}"), "broken: 3: 3 {}");
  EXPECT_EQ(Outcome("{metric: tries_total, equals: 2}"), "broken: 3: 3 {}");
  EXPECT_EQ(Outcome("{metric: tries_total, equals: 4}"), "not yet: 3: 3 {}");
  EXPECT_EQ(Outcome("{metric: pending, atMost: 2}"), "not yet: 3: 3 {}");
  EXPECT_EQ(Outcome("{metric: pending, equals: 2}"), "not yet: 3: 3 {}");
}

TEST_F(EvaluationTest, UnreadableMetricsMeetNoExpectation) {
  state_.metrics = []() -> std::vector<Sample> { throw MetricsError("oh"); };
  EXPECT_EQ(Outcome("{metric: tries_total, atMost: 7}"), "not yet: oh");
}

TEST_F(EvaluationTest, JudgesOvercommit) {
  AddPod("p1", "a");
  AddPod("p2", "a");
  EXPECT_EQ(Outcome("{overcommitted: false}"), "met");
  AddPod("p3", "a");
  EXPECT_EQ(Outcome("{overcommitted: false}"),
            "broken: a: 3 pods requested, 2 allocatable");
}

TEST_F(EvaluationTest, BrokenTakesPrecedenceOverNotYet) {
  AddPod("p1", "a");
  AddPod("p2");
  EXPECT_EQ(Outcome("{pods: p*, count: 3, node: b}"),
            "broken: 1 of 2 are on other nodes: p1: on a");
}

TEST_F(EvaluationTest, FormatsAPod) {
  AddPod("p", "a", R"({"phase":"Failed","reason":"OutOfcpu"})");
  EXPECT_EQ(DescribePod(*state_.pods["p"]), "p: on a, Failed, OutOfcpu");
  EXPECT_EQ(DescribePod(FromJson<Pod>(R"({"metadata":{"name":"q",
      "deletionTimestamp":"2024-01-01T00:00:00Z"},
      "status":{"phase":"Pending"}})")),
            "q: no node, being deleted");
}

TEST_F(EvaluationTest, FormatsTheTaintsOfANode) {
  EXPECT_EQ(DescribeNode(*state_.nodes["a"]), "");
  EXPECT_EQ(DescribeNode(FromJson<Node>(R"({"metadata":{"name":"n"},
      "spec":{"unschedulable":true,"taints":[
          {"key":"gpu","value":"yes","effect":"NoSchedule"},
          {"key":"old","effect":"NoExecute"}]}})")),
            "node n: cordoned, taint gpu=yes:NoSchedule, taint old:NoExecute");
}

}  // namespace
}  // namespace minisched::scenario
