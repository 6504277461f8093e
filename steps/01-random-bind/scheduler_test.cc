#include "scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "minisched/api/json.h"
#include "minisched/base/fake_clock.h"
#include "minisched/base/mutex.h"
#include "minisched/testing/embedded_server.h"
#include "minisched/testing/http_server.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Pair;
using ::testing::SizeIs;

std::string PodJson(const std::string& name, const std::string& spec = "{}",
                    const std::string& more_metadata = "") {
  return R"({"metadata":{"namespace":"shop","name":")" + name +
         R"(","uid":"uid-)" + name + "\"" + more_metadata + R"(},"spec":)" +
         spec + "}";
}

std::string NodeJson(const std::string& name) {
  return R"({"metadata":{"name":")" + name + R"("}})";
}

std::string ListJson(const std::vector<std::string>& items) {
  std::string json;
  for (const std::string& item : items) {
    if (!json.empty()) json += ",";
    json += item;
  }
  return R"({"metadata":{"resourceVersion":"1"},"items":[)" + json + "]}";
}

// As much of an API server as this scheduler asks, to fail as tests want it to.
// Pods stay in the list until they are bound. Thread-safe.
class FakeApi {
 public:
  FakeApi()
      : server_([this](const ServerRequest& request, ServerReply reply) {
          Handle(request, std::move(reply));
        }) {}

  RestConfig config() const {
    RestConfig config;
    config.server = server_.url();
    config.qps = 0;
    return config;
  }

  void AddPod(const std::string& name, const std::string& json) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    pods_[name] = json;
  }

  void AddNode(const std::string& name) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    nodes_.push_back(NodeJson(name));
  }

  // From now on requests whose target has `part` get this answer. Status 0:
  // none, the connection is cut.
  void Fail(const std::string& part, int status) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    failures_[part] = status;
  }

  void Heal() EXCLUDES(mu_) {
    MutexLock lock(mu_);
    failures_.clear();
  }

  // By pod, the bindings that were accepted.
  std::map<std::string, Binding> bindings() const EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return bindings_;
  }

  std::vector<ServerRequest> requests() const { return server_.requests(); }

 private:
  void Handle(const ServerRequest& request, ServerReply reply) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    for (const auto& [part, status] : failures_) {
      if (request.target.find(part) == std::string::npos) continue;
      if (status == 0) return reply.Close();
      return reply.Send(status, R"({"message":"no luck"})");
    }
    if (request.method == "POST") {
      const auto binding = FromJson<Binding>(request.body);
      bindings_[binding.metadata.name] = binding;
      pods_.erase(binding.metadata.name);
      return reply.Send(201, R"({"kind":"Status","status":"Success"})");
    }
    if (request.target.find("/pods") == std::string::npos) {
      return reply.Send(200, ListJson(nodes_));
    }
    std::vector<std::string> pods;
    for (const auto& [name, json] : pods_) pods.push_back(json);
    reply.Send(200, ListJson(pods));
  }

  mutable Mutex mu_;
  std::map<std::string, std::string> pods_ GUARDED_BY(mu_);
  std::vector<std::string> nodes_ GUARDED_BY(mu_);
  std::map<std::string, int> failures_ GUARDED_BY(mu_);
  std::map<std::string, Binding> bindings_ GUARDED_BY(mu_);
  HttpServer server_;  // last: it calls Handle()
};

// A scheduler that runs round by round.
class RunningScheduler {
 public:
  explicit RunningScheduler(const RestConfig& config,
                            const SchedulerOptions& options = {})
      : client_(config),
        scheduler_(client_, "minisched", options, clock_),
        thread_([this](std::stop_token stop) { scheduler_.Run(stop); }) {
    clock_.AwaitSleepers(1);  // the first round is over
  }

  void NextRound() {
    clock_.Advance(std::chrono::seconds(1));
    clock_.AwaitSleepers(1);
  }

 private:
  FakeClock clock_;
  Client client_;
  Scheduler scheduler_;
  std::jthread thread_;
};

std::string NodeYaml(const std::string& name) {
  return "---\n{apiVersion: v1, kind: Node, metadata: {name: " + name + "}}\n";
}

std::string PodYaml(const std::string& name, const std::string& more = "") {
  return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name +
         "}, spec: {schedulerName: minisched, " + more +
         "containers: [{name: c, image: i}]}}\n";
}

// By pod, the nodes of those that are bound.
std::map<std::string, std::string> Places(const EmbeddedServer& server) {
  Client client(server.config());
  std::map<std::string, std::string> places;
  for (const auto& pod : client.List<Pod>().items) {
    if (pod->spec.node_name.empty()) continue;
    places[pod->metadata.name] = pod->spec.node_name;
  }
  return places;
}

TEST(SchedulerTest, BindsAPendingPod) {
  const EmbeddedServer server(NodeYaml("node-1") + PodYaml("web-0"));
  const RunningScheduler scheduler(server.config());
  EXPECT_THAT(Places(server), ElementsAre(Pair("web-0", "node-1")));
}

TEST(SchedulerTest, LeavesOtherPodsAlone) {
  const EmbeddedServer server(
      NodeYaml("node-1") + PodYaml("gated", "schedulingGates: [{name: g}], ") +
      PodYaml("taken", "nodeName: node-9, ") +
      "---\n{apiVersion: v1, kind: Pod, metadata: {name: others}, spec: "
      "{containers: [{name: c, image: i}]}}\n" +
      PodYaml("web-0"));
  const RunningScheduler scheduler(server.config());
  EXPECT_THAT(Places(server),
              ElementsAre(Pair("taken", "node-9"), Pair("web-0", "node-1")));
}

std::string NodesAndPods(int pods) {
  std::string yaml =
      NodeYaml("node-1") + NodeYaml("node-2") + NodeYaml("node-3");
  for (int i = 0; i < pods; ++i) yaml += PodYaml("web-" + std::to_string(i));
  return yaml;
}

TEST(SchedulerTest, UsesEveryNodeSoonerOrLater) {
  const EmbeddedServer server(NodesAndPods(100));
  const RunningScheduler scheduler(server.config());
  const auto places = Places(server);
  std::set<std::string> used;
  for (const auto& [pod, node] : places) used.insert(node);
  EXPECT_THAT(places, SizeIs(100));
  EXPECT_THAT(used, SizeIs(3));
}

std::map<std::string, std::string> PlaceTenPods(std::uint64_t seed) {
  const EmbeddedServer server(NodesAndPods(10));
  const RunningScheduler scheduler(server.config(), {.seed = seed});
  return Places(server);
}

TEST(SchedulerTest, TheSameSeedPlacesTheSame) {
  const auto places = PlaceTenPods(1);
  EXPECT_THAT(places, SizeIs(10));
  EXPECT_EQ(PlaceTenPods(1), places);
  EXPECT_NE(PlaceTenPods(2), places);
}

TEST(SchedulerTest, WaitsForANode) {
  const EmbeddedServer server(PodYaml("web-0"));
  RunningScheduler scheduler(server.config());
  EXPECT_THAT(Places(server), IsEmpty());
  Client client(server.config());
  Node node;
  node.metadata.name = "node-1";
  client.Create(node);
  scheduler.NextRound();
  EXPECT_THAT(Places(server), ElementsAre(Pair("web-0", "node-1")));
}

TEST(SchedulerTest, BindsThisPodAndNoNamesake) {
  FakeApi api;
  api.AddNode("node-1");
  api.AddPod("web-0", PodJson("web-0"));
  const RunningScheduler scheduler(api.config());
  const auto bindings = api.bindings();
  ASSERT_THAT(bindings, ElementsAre(Key("web-0")));
  EXPECT_EQ(bindings.at("web-0").metadata.uid, "uid-web-0");
}

TEST(SchedulerTest, LeavesPodsAloneThatAreBeingDeleted) {
  FakeApi api;
  api.AddNode("node-1");
  api.AddPod("deleted",
             PodJson("deleted", "{}",
                     R"(,"deletionTimestamp":"2026-11-21T10:00:00Z")"));
  const RunningScheduler scheduler(api.config());
  EXPECT_THAT(api.bindings(), IsEmpty());
}

TEST(SchedulerTest, AsksForNothingElseWhileNothingWaits) {
  FakeApi api;
  RunningScheduler scheduler(api.config());
  scheduler.NextRound();
  const auto requests = api.requests();
  // Nothing waits, so nothing but the pods was asked for.
  ASSERT_THAT(requests, SizeIs(2));
  EXPECT_THAT(requests[0].target,
              HasSubstr("fieldSelector=spec.nodeName%3D%2Cspec.schedulerName"
                        "%3Dminisched%2Cstatus.phase%21%3DSucceeded%2C"
                        "status.phase%21%3DFailed"));
}

TEST(SchedulerTest, GoesOnWhenAPodIsGoneOrTaken) {
  FakeApi api;
  api.AddNode("node-1");
  for (const char* pod : {"a-gone", "b-taken", "c-there"}) {
    api.AddPod(pod, PodJson(pod));
  }
  api.Fail("a-gone", 404);
  api.Fail("b-taken", 409);
  const RunningScheduler scheduler(api.config());
  EXPECT_THAT(api.bindings(), ElementsAre(Key("c-there")));
}

TEST(SchedulerTest, GoesOnAfterAMalformedPod) {
  FakeApi api;
  api.AddNode("node-1");
  api.AddPod("absurd", PodJson("absurd", R"({"overhead":{"cpu":"1e99"}})"));
  api.AddPod("web-0", PodJson("web-0"));
  const RunningScheduler scheduler(api.config());
  EXPECT_THAT(api.bindings(), ElementsAre(Key("web-0")));
}

// A request fails, with this status, or with none: then the connection is cut.
class FailureTest
    : public ::testing::TestWithParam<std::pair<const char*, int>> {};

TEST_P(FailureTest, TriesAgainInTheNextRound) {
  const auto& [part, status] = GetParam();
  FakeApi api;
  api.AddNode("node-1");
  api.AddPod("web-0", PodJson("web-0"));
  api.Fail(part, status);
  RunningScheduler scheduler(api.config());
  EXPECT_THAT(api.bindings(), IsEmpty());
  api.Heal();
  scheduler.NextRound();
  EXPECT_THAT(api.bindings(), ElementsAre(Key("web-0")));
}

INSTANTIATE_TEST_SUITE_P(Failures, FailureTest,
                         ::testing::Values(std::pair("/pods?", 500),
                                           std::pair("/pods?", 401),
                                           std::pair("/nodes", 403),
                                           std::pair("/binding", 500),
                                           std::pair("/binding", 0)));

}  // namespace
}  // namespace minisched
