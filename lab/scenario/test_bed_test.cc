// Tests what a scenario may change in a cluster, and that the cluster is
// restored.
#include "lab/scenario/test_bed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "lab/scenario/player_testing.h"
#include "testing/http_server.h"

namespace minisched::scenario {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class TestBedTest : public PlayerTest {};

TEST_F(TestBedTest, ReplacesTheClustersNodesAndRestoresThem) {
  Post("/api/v1/nodes", R"({"metadata":{"name":"a","labels":{"mine":"yes"}}})");
  Post("/api/v1/nodes", R"({"metadata":{"name":"old"}})");
  const TinyScheduler scheduler(Config(), OnA);
  const Result result = Play(R"(
steps:
- create: {pods: web}
- cordon: a
- delete: {node: b}
- expect: {pods: web, node: a}
)");
  EXPECT_FALSE(result.failure);
  ExpectNothingLeft({"a", "old"});
  EXPECT_EQ(GetJson("/api/v1/nodes/a")["metadata"]["labels"]["mine"], "yes");
  EXPECT_FALSE(GetJson("/api/v1/nodes/a")["spec"].contains("unschedulable"));
}

TEST_F(TestBedTest, WithoutNodesUsesTheClustersNodes) {
  Post("/api/v1/nodes", R"({"metadata":{"name":"a"}})");
  const std::string uid = GetJson("/api/v1/nodes/a")["metadata"]["uid"];
  const TinyScheduler scheduler(Config(), OnA);
  const Result result = PlayFile(
      "steps: [{create: {pods: web}}, {expect: {pods: web, node: a}}]\n");
  EXPECT_FALSE(result.failure);
  ExpectNothingLeft({"a"});
  EXPECT_EQ(GetJson("/api/v1/nodes/a")["metadata"]["uid"], uid);
}

TEST_F(TestBedTest, RefusesToRemoveANodeWithAPod) {
  Post("/api/v1/nodes", R"({"metadata":{"name":"old"}})");
  Post("/api/v1/namespaces/default/pods",
       R"({"metadata":{"name":"p"},"spec":{"nodeName":"old",
           "containers":[{"name":"c","image":"i"}]}})");
  EXPECT_EQ(Refusal(std::string(kNodes) + "steps: [{wait: 0s}]\n"),
            "the scenario would remove node old, which runs pod default/p: "
            "delete the pod first, or play with --embedded");
  EXPECT_THAT(Names("/api/v1/nodes"), ElementsAre("old"));
}

TEST_F(TestBedTest, ChangesOnlyItsOwnClusterScopedObjects) {
  EXPECT_EQ(Refusal("steps:\n- patch: {apiVersion: v1, kind: Namespace, "
                    "name: default, merge: {}}\n"),
            "patch Namespace default: this scenario did not create it");
  const Result result = PlayFile(
      "steps:\n- delete: {apiVersion: v1, kind: Namespace, name: '*'}\n"
      "- create: {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass,\n"
      "           metadata: {name: urgent}, value: 5}\n");
  EXPECT_FALSE(result.failure);
  ExpectNothingLeft();
  EXPECT_THAT(Names("/apis/scheduling.k8s.io/v1/priorityclasses"),
              testing::Not(Contains("urgent")));
}

// A finalizer that a scenario has set would keep the pod, and its namespace.
TEST_F(TestBedTest, RemovesFinalizersOfPods) {
  const Result result = Play(R"(
steps:
- create: {pods: web}
- patch: {pod: web, merge: {metadata: {finalizers: [example.com/hold]}}}
)");
  EXPECT_FALSE(result.failure);
  ExpectNothingLeft();
}

// The server does not store Bindings, so the cleanup must not try to delete
// them.
TEST_F(TestBedTest, AScenarioMayCreateBindings) {
  const Result result = Play(R"(
steps:
- create: {pods: web}
- create:
    apiVersion: v1
    kind: Binding
    metadata: {name: web}
    target: {kind: Node, name: b}
- expect: {pods: web, node: b}
)");
  EXPECT_FALSE(result.failure);
  ExpectNothingLeft();
}

TEST_F(TestBedTest, ReplacesTheSchedulerNameInPodsAndTemplates) {
  options_.scheduler_name = "mine";
  const TinyScheduler scheduler(Config(), OnA, "mine");
  const Result result = Play(R"(
steps:
- create:
  - {pods: web}
  - {pods: other, spec: {schedulerName: somebody-else}}
  - apiVersion: apps/v1
    kind: Deployment
    metadata: {name: d}
    spec:
      replicas: 2
      selector: {matchLabels: {app: d}}
      template:
        metadata: {labels: {app: d}}
        spec:
          schedulerName: minisched
          containers: [{name: c, image: i}]
- expect:
  - {pods: d-*, count: 2, bound: true}
  - {pods: web, bound: true}
  - {pods: other, bound: false}
)");
  EXPECT_FALSE(result.failure) << result.failure->found;
  ExpectNothingLeft();
}

TEST_F(TestBedTest, CleansUpWhenCancelled) {
  Post("/api/v1/nodes", R"({"metadata":{"name":"old"}})");
  std::jthread later([&] {
    while (Names("/api/v1/pods").size() < 3) std::this_thread::yield();
    stop_.request_stop();
  });
  EXPECT_THROW(Play("faults: [{latency: 1ms}]\n"
                    "steps:\n- create: {pods: web, replicas: 200}\n"
                    "- expect: {pods: web-*, bound: true}\n"),
               Cancelled);
  ExpectNothingLeft({"old"});
}

TEST_F(TestBedTest, ThrowsCannotPlayIfTheServerRejectsARequest) {
  EXPECT_THAT(Refusal("steps:\n- create: {apiVersion: v1, kind: Pod, "
                      "metadata: {name: p}}\n"),
              HasSubstr("create Pod p: "));
  EXPECT_THAT(Refusal("steps:\n- patch: {pod: none, merge: {}}\n"),
              HasSubstr("the server rejected the request: "));
  EXPECT_THAT(Refusal("steps:\n- create: {apiVersion: v7, kind: Pet, "
                      "metadata: {name: p}}\n"),
              HasSubstr("the server has no kind Pet in v7"));
  ExpectNothingLeft();
}

class NoKubeletTest : public PlayerTest {
 protected:
  NoKubeletTest() : PlayerTest(/*simulate_kubelet=*/false) {}
};

// A deleted pod of a Deployment is replaced at once. Nobody but the player ends
// the new pod if it is bound before its namespace is deleted.
TEST_F(NoKubeletTest, RemovesThePodsOfADeployment) {
  Post("/api/v1/nodes", R"({"metadata":{"name":"a"}})");
  const TinyScheduler scheduler(Config(), OnA);
  const Result result = PlayFile(R"(
steps:
- create:
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec:
      replicas: 300
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec: {schedulerName: minisched, containers: [{name: c, image: i}]}
- expect: {pods: web-*, bound: true, count: 300}
)");
  EXPECT_FALSE(result.failure);
  ExpectNothingLeft({"a"});
}

// A fixture with a server that is not a test cluster.
class ForeignClusterTest : public testing::Test {
 protected:
  std::string Refusal(const std::string& rest, PlayerOptions options = {}) {
    const HttpServer server([](const ServerRequest&, ServerReply reply) {
      reply.Send(200, R"({"gitVersion":"v1.37.0"})");
    });
    const Scenario scenario = ReadScenario(
        directory_.Write("s.yaml", "title: T\nwhy: W\nsince: 1\n" + rest));
    options.config.server = server.url();
    std::ostringstream output;
    TextReport report(output, false);
    std::string refusal = "no refusal";
    try {
      Player(options, report, {}).Play(scenario, {});
    } catch (const std::exception& error) {
      refusal = error.what();
    }
    // The player has read the server's version and nothing else.
    EXPECT_EQ(server.requests().size(), 1U);
    return refusal;
  }

  const TestDirectory directory_;
};

TEST_F(ForeignClusterTest, RefusesToChangeNodes) {
  EXPECT_THAT(Refusal("nodes: [{names: a}]\nsteps: [{wait: 0s}]\n"),
              HasSubstr("is not a test cluster: use --embedded, or "
                        "--any-cluster to change its nodes"));
}

TEST_F(ForeignClusterTest, RefusesFaultsAndCountsOfRequests) {
  for (const std::string rest :
       {"steps: [{server: compact}]\n", "steps: [{mark: requests}]\n",
        "faults: [{drop: before}]\nsteps: [{wait: 0s}]\n",
        "steps: [{expect: {requests: {atMost: 1}}}]\n"}) {
    EXPECT_THAT(Refusal(rest), HasSubstr("play it with --embedded")) << rest;
  }
}

TEST_F(ForeignClusterTest, RefusesToStopASchedulerItDidNotStart) {
  EXPECT_THAT(Refusal("steps: [{scheduler: stop}]\n"),
              HasSubstr("command with --scheduler"));
}

}  // namespace
}  // namespace minisched::scenario
