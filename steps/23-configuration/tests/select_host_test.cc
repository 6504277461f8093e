// Tests which node the scheduler selects by the scores, and the scores in the
// trace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "minisched/api/json.h"
#include "minisched/base/fake_clock.h"
#include "scheduler.h"
#include "testing/scripted_cluster.h"
#include "tests/options_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// Returns the score of a node as "plugin raw normalized weighted".
std::string ScoreText(const ScoreColumn& column, std::size_t node) {
  const std::int64_t normalized = column.normalized.at(node);
  return fmt::format("{} {} {} {}", column.plugin, column.raw.at(node),
                     normalized, normalized * column.weight);
}

// A scheduler whose Bindings the test answers. The cluster's pods stay pending,
// so that no pod changes the scores of the next one.
class SelectHostTest : public ::testing::Test {
 protected:
  ~SelectHostTest() override { stop_.request_stop(); }

  static Pod PendingPod(const std::string& name) {
    Pod pod;
    pod.metadata.namespace_name = "default";
    pod.metadata.name = name;
    pod.metadata.uid = name;
    pod.metadata.resource_version = "1";
    pod.spec.scheduler_name = "minisched";
    return pod;
  }
  void AddPods(int count) {
    for (int i = 0; i < count; ++i) {
      cluster_.Add(PendingPod("web-" + std::to_string(i)));
    }
  }

  static Node NamedNode(const std::string& name) {
    Node node;
    node.metadata.name = name;
    node.metadata.resource_version = "1";
    node.status.allocatable["pods"] = Quantity::FromValue(110);
    return node;
  }
  // A node that pods avoid.
  static Node AvoidedNode(const std::string& name) {
    Node node = NamedNode(name);
    node.spec.taints = {{.key = "old", .effect = "PreferNoSchedule"}};
    return node;
  }

  static SchedulerOptions WithNodeNumber(int weight) {
    return OptionsWith("multiPoint: {enabled: [{name: NodeNumber, weight: " +
                       std::to_string(weight) + "}]}");
  }

  void Start(const SchedulerOptions& options) {
    client_ = std::make_unique<Client>(cluster_.config());
    scheduler_ = std::make_unique<Scheduler>(
        AppContext{*client_, "minisched", trace_, {}}, options, clock_);
    run_ = std::jthread([this] { scheduler_->Run(stop_.get_token()); });
  }

  // Returns the node in the next Binding, which succeeds.
  std::string NextHost() {
    auto binding = cluster_.TakeBinding();
    binding.reply.Send(201, R"({"kind":"Status"})");
    return FromJson<Binding>(binding.request.body).target.name;
  }

  // Returns how many of the pods are bound to each node.
  std::map<std::string, int> Hosts(int pods) {
    std::map<std::string, int> hosts;
    for (int i = 0; i < pods; ++i) ++hosts[NextHost()];
    return hosts;
  }

  // Returns the scores of each node in the only attempt so far.
  std::map<std::string, std::vector<std::string>> ScoresInTrace() {
    std::map<std::string, std::vector<std::string>> scores;
    for (const RecordPtr& record : reader_.Poll()) {
      const auto* attempt = std::get_if<Attempt>(&record->state);
      if (attempt == nullptr) continue;
      if (attempt->scores.empty()) continue;
      for (std::size_t i = 0; i < attempt->fits.size(); ++i) {
        std::vector<std::string>& texts = scores[attempt->fits[i]];
        texts.clear();  // a later record repeats the scores
        for (const ScoreColumn& column : attempt->scores) {
          texts.push_back(ScoreText(column, i));
        }
      }
    }
    return scores;
  }

  FakeClock clock_;
  ScriptedCluster cluster_{clock_};

 private:
  std::unique_ptr<Client> client_;
  Trace trace_{"minisched", clock_};
  TraceReader reader_{trace_, AttemptDetail::kFirstRejections};
  std::unique_ptr<Scheduler> scheduler_;
  std::stop_source stop_;
  std::jthread run_;  // last: Run() uses the other members
};

TEST_F(SelectHostTest, DrawsAmongAllOfTheBestNodes) {
  cluster_.Add(AvoidedNode("a"));
  for (const char* name : {"b", "c", "d"}) cluster_.Add(NamedNode(name));
  cluster_.Add(AvoidedNode("e"));
  AddPods(60);
  Start({.seed = 1});
  // Each node's probability of fewer than 6 pods of 60 is below 1 in 10,000.
  EXPECT_THAT(Hosts(60), ElementsAre(Pair("b", Gt(5)), Pair("c", Gt(5)),
                                     Pair("d", Gt(5))));
}

// TaintToleration gives node-b 300 points more. NodeNumber gives node-0 100
// points more, times its weight.
TEST_F(SelectHostTest, ALightWeightDoesNotOutweighAHeavyOne) {
  cluster_.Add(AvoidedNode("node-0"));
  cluster_.Add(NamedNode("node-b"));
  AddPods(1);
  Start(WithNodeNumber(2));
  EXPECT_EQ(NextHost(), "node-b");
}

TEST_F(SelectHostTest, AHeavyWeightOutweighsALightOne) {
  cluster_.Add(AvoidedNode("node-0"));
  cluster_.Add(NamedNode("node-b"));
  AddPods(1);
  Start(WithNodeNumber(4));
  EXPECT_EQ(NextHost(), "node-0");
}

TEST_F(SelectHostTest, EqualSumsAreATie) {
  cluster_.Add(AvoidedNode("node-0"));
  cluster_.Add(NamedNode("node-b"));
  AddPods(1);
  Start(WithNodeNumber(3));
  NextHost();
  EXPECT_THAT(
      ScoresInTrace(),
      ElementsAre(
          Pair("node-0",
               ElementsAre("TaintToleration 1 0 0", "NodeResourcesFit 0 0 0",
                           "ImageLocality 0 0 0", "NodeNumber 100 100 300")),
          Pair(
              "node-b",
              ElementsAre("TaintToleration 0 100 300", "NodeResourcesFit 0 0 0",
                          "ImageLocality 0 0 0", "NodeNumber 0 0 0"))));
}

// The scores belong to the right nodes, although the pod doesn't fit the first
// and the third one.
TEST_F(SelectHostTest, TheTraceHasTheScoresOfTheFeasibleNodes) {
  for (const char* name : {"a", "b", "c", "d"}) {
    Node node = NamedNode(name);
    const bool fits = node.metadata.name == "b" || node.metadata.name == "d";
    node.spec.unschedulable = !fits;
    if (node.metadata.name == "d") {
      node.status.allocatable["cpu"] = Quantity::FromValue(1);
    }
    cluster_.Add(node);
  }
  AddPods(1);
  Start({});
  EXPECT_EQ(NextHost(), "d");
  EXPECT_THAT(ScoresInTrace(),
              ElementsAre(Pair("b", ElementsAre("TaintToleration 0 100 300",
                                                "NodeResourcesFit 0 0 0",
                                                "ImageLocality 0 0 0")),
                          Pair("d", ElementsAre("TaintToleration 0 100 300",
                                                "NodeResourcesFit 100 100 100",
                                                "ImageLocality 0 0 0"))));
}

TEST_F(SelectHostTest, TheOnlyFeasibleNodeIsNotScored) {
  cluster_.Add(NamedNode("a"));
  Node closed = NamedNode("b");
  closed.spec.unschedulable = true;
  cluster_.Add(closed);
  AddPods(1);
  Start({});
  EXPECT_EQ(NextHost(), "a");
  EXPECT_THAT(ScoresInTrace(), IsEmpty());
}

// An error of a score plugin is an error of the attempt: the pod is not bound,
// although it fits two nodes.
TEST_F(SelectHostTest, AnErrorInScoringFailsTheAttempt) {
  cluster_.Add(NamedNode("a"));
  cluster_.Add(NamedNode("b"));
  Pod broken = PendingPod("broken");
  broken.spec.affinity.node_affinity.preferred = {
      {.weight = -1,
       .preference = {
           .match_expressions = {{.key = "zone", .op = "DoesNotExist"}}}}};
  cluster_.Add(broken);
  AddPods(1);
  Start({});
  auto bound = cluster_.TakeBinding();
  EXPECT_EQ(FromJson<Binding>(bound.request.body).metadata.uid, "web-0");
  bound.reply.Send(201, R"({"kind":"Status"})");
  EXPECT_THAT(cluster_.AwaitWrites(1).front().body,
              HasSubstr("returns an invalid score -1"));
}

}  // namespace
}  // namespace minisched
