#include "scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "minisched/base/fake_clock.h"
#include "testing/embedded_server.h"

namespace minisched {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;

// How long tests wait at most.
constexpr std::chrono::seconds kPatience{20};

// The scheduler's threads that sleep on the clock.
constexpr std::size_t kSleepers = 1;

std::string NodeYaml(const std::string& name) {
  return "---\n{apiVersion: v1, kind: Node, metadata: {name: " + name +
         "}, status: {allocatable: {pods: 110}}}\n";
}

std::string PodYaml(const std::string& name, const std::string& more = "") {
  return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name +
         "}, spec: {schedulerName: minisched, " + more +
         "containers: [{name: c, image: i}]}}\n";
}

std::string NodesAndPods(int pods) {
  std::string yaml =
      NodeYaml("node-1") + NodeYaml("node-2") + NodeYaml("node-3");
  for (int i = 0; i < pods; ++i) yaml += PodYaml("web-" + std::to_string(i));
  return yaml;
}

// An API server and a scheduler. Only tests advance the scheduler's clock.
class SchedulerTest : public ::testing::Test {
 protected:
  void StartServer(const std::string& manifest) {
    scheduler_.reset();
    server_ = std::make_unique<EmbeddedServer>(manifest);
    client_ = std::make_unique<Client>(server_->config());
  }

  // Starts a scheduler and blocks until its threads sleep.
  void StartScheduler(const SchedulerOptions& options = {}) {
    scheduler_ = std::make_unique<Running>(*client_, options, clock_);
    clock_.AwaitSleepers(kSleepers);
  }

  void Start(const std::string& manifest) {
    StartServer(manifest);
    StartScheduler();
  }

  // Returns the nodes of the bound pods, by pod.
  std::map<std::string, std::string> Places() {
    std::map<std::string, std::string> places;
    for (const auto& pod : client_->List<Pod>().items) {
      if (pod->spec.node_name.empty()) continue;
      places[pod->metadata.name] = pod->spec.node_name;
    }
    return places;
  }

  // Blocks until at least `count` pods are bound. Returns the same as Places().
  std::map<std::string, std::string> AwaitPlaces(std::size_t count) {
    AwaitThat([&] { return Places().size() >= count; });
    return Places();
  }

  // Advances the scheduler's clock until `done` returns true.
  void AwaitThat(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!done()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      clock_.Advance(std::chrono::milliseconds(100));
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  // Blocks until each pending pod has been tried again.
  void AwaitTries() {
    clock_.Advance(std::chrono::seconds(2));
    clock_.AwaitSleepers(kSleepers);
    // The scheduler tries this pod after the pods that are due now.
    CreatePod("the-end");
    AwaitThat([this] { return Places().contains("the-end"); });
  }

  // Returns the number of posted Bindings, successful or not.
  int CountBindings() {
    std::istringstream metrics(
        client_->Send({.method = "GET", .path = "/metrics"}));
    int count = 0;
    for (std::string line; std::getline(metrics, line);) {
      if (line.starts_with("apiserver_request_total{") &&
          line.find(R"(subresource="binding")") != std::string::npos) {
        count += std::stoi(line.substr(line.rfind(' ')));
      }
    }
    return count;
  }

  void Label(const std::string& pod) {
    client_->Patch<Pod>("default", pod, PatchType::kMerge,
                        R"({"metadata":{"labels":{"colour":"red"}}})");
  }

  void CreateNode(const std::string& name) {
    Node node;
    node.metadata.name = name;
    node.status.allocatable["pods"] = Quantity::FromValue(110);
    client_->Create(node);
  }

  void CreatePod(const std::string& name) {
    Pod pod;
    pod.metadata.namespace_name = "default";
    pod.metadata.name = name;
    pod.spec.scheduler_name = "minisched";
    pod.spec.containers = {{.name = "c", .image = "i"}};
    client_->Create(pod);
  }

  FakeClock clock_;
  std::unique_ptr<EmbeddedServer> server_;
  std::unique_ptr<Client> client_;

 private:
  struct Running {
    Running(Client& client, const SchedulerOptions& options, Clock& clock)
        : trace("minisched", clock),
          scheduler({client, "minisched", trace, {}}, options, clock),
          thread([this](std::stop_token stop) { scheduler.Run(stop); }) {}

    Trace trace;
    Scheduler scheduler;
    std::jthread thread;
  };
  std::unique_ptr<Running> scheduler_;
};

TEST_F(SchedulerTest, BindsAPendingPod) {
  Start(NodeYaml("node-1") + PodYaml("web-0"));
  EXPECT_THAT(AwaitPlaces(1), ElementsAre(Pair("web-0", "node-1")));
}

TEST_F(SchedulerTest, BindsNewPods) {
  Start(NodeYaml("node-1"));
  for (const char* name : {"a", "b", "c"}) {
    CreatePod(name);
    AwaitThat([&] { return Places().contains(name); });
  }
}

constexpr char kOthersPod[] =
    "---\n{apiVersion: v1, kind: Pod, metadata: {name: others}, spec: "
    "{containers: [{name: c, image: i}]}}\n";

TEST_F(SchedulerTest, IgnoresOtherPods) {
  StartServer(NodeYaml("node-1") + PodYaml("failed") +
              PodYaml("gated", "schedulingGates: [{name: g}], ") + kOthersPod +
              PodYaml("taken", "nodeName: node-9, ") + PodYaml("web-0"));
  client_->Patch<Pod>("default", "failed", PatchType::kMerge,
                      R"({"status":{"phase":"Failed"}})", "status");
  StartScheduler();
  // web-0 is tried last: pods are tried in the order of their names.
  AwaitThat([&] { return Places().contains("web-0"); });
  EXPECT_THAT(Places(),
              ElementsAre(Pair("taken", "node-9"), Pair("web-0", "node-1")));
  EXPECT_EQ(CountBindings(), 1);
}

TEST_F(SchedulerTest, IgnoresUpdatesOfOtherPods) {
  Start(NodeYaml("node-1") +
        PodYaml("gated", "schedulingGates: [{name: g}], ") + kOthersPod);
  Label("gated");
  Label("others");
  CreatePod("web-0");
  AwaitThat([&] { return Places().contains("web-0"); });
  EXPECT_THAT(Places(), ElementsAre(Pair("web-0", "node-1")));
  EXPECT_EQ(CountBindings(), 1);
}

TEST_F(SchedulerTest, BindsAPodWhenItsLastGateIsRemoved) {
  Start(NodeYaml("node-1") +
        PodYaml("gated", "schedulingGates: [{name: g}], "));
  CreatePod("web-0");
  AwaitPlaces(1);
  client_->Patch<Pod>("default", "gated", PatchType::kMerge,
                      R"({"spec":{"schedulingGates":null}})");
  EXPECT_THAT(AwaitPlaces(2), Contains(Pair("gated", "node-1")));
}

TEST_F(SchedulerTest, UsesAllNodes) {
  Start(NodesAndPods(100));
  std::set<std::string> used;
  for (const auto& [pod, node] : AwaitPlaces(100)) used.insert(node);
  EXPECT_THAT(used, SizeIs(3));
}

TEST_F(SchedulerTest, ASeedRepeatsTheChoices) {
  const auto place_ten_pods = [&](std::uint64_t seed) {
    StartServer(NodesAndPods(10));
    StartScheduler({.seed = seed});
    return AwaitPlaces(10);
  };
  const auto places = place_ten_pods(1);
  EXPECT_EQ(place_ten_pods(1), places);
  EXPECT_NE(place_ten_pods(2), places);
}

TEST_F(SchedulerTest, BindsAPodWhenANodeAppears) {
  Start(PodYaml("web-0"));
  CreateNode("node-1");
  EXPECT_THAT(AwaitPlaces(1), ElementsAre(Pair("web-0", "node-1")));
}

TEST_F(SchedulerTest, DropsPodsThatAreDeletedOrBoundByOthers) {
  Start(PodYaml("gone") + PodYaml("taken") + PodYaml("web-0"));
  client_->Delete<Pod>("default", "gone", {.grace_period_seconds = 0});
  Binding binding;
  binding.metadata.namespace_name = "default";
  binding.metadata.name = "taken";
  binding.target = {.kind = "Node", .name = "node-9"};
  client_->Bind(binding);
  CreateNode("node-1");
  AwaitThat([&] { return Places().contains("web-0"); });
  AwaitTries();
  EXPECT_THAT(Places(),
              ElementsAre(Pair("taken", "node-9"), Pair("the-end", "node-1"),
                          Pair("web-0", "node-1")));
  // The test bound "taken", the scheduler the other two. It may have tried each
  // of "gone" and "taken" once, before it got the events.
  EXPECT_GE(CountBindings(), 3);
  EXPECT_LE(CountBindings(), 5);
}

// Requests that fail, with a response or without.
class FailureTest : public SchedulerTest,
                    public ::testing::WithParamInterface<const char*> {};

TEST_P(FailureTest, BindsThePodAfterTheFailures) {
  StartServer(NodeYaml("node-1") + PodYaml("web-0"));
  server_->server().SetFaults(std::string("faults: [{") + GetParam() + "}]");
  StartScheduler();
  EXPECT_THAT(AwaitPlaces(1), ElementsAre(Pair("web-0", "node-1")));
}

constexpr const char* kFailures[] = {
    "match: {resource: pods/binding}, times: 2, error: {code: 504}",
    "match: {resource: pods/binding}, times: 2, error: {code: 409}",
    ("match: {resource: pods/binding}, times: 2, "
     "error: {code: 504, after: true}"),
    "match: {resource: pods/binding}, times: 2, drop: before",
    "match: {resource: pods/binding}, times: 2, drop: after",
    "match: {resource: nodes}, times: 2, error: {code: 500}",
    "match: {resource: nodes}, times: 2, error: {code: 401}",
    "match: {resource: nodes}, times: 2, drop: before",
};
INSTANTIATE_TEST_SUITE_P(Failures, FailureTest, ::testing::ValuesIn(kFailures));

TEST_F(SchedulerTest, ContinuesWhenTheServerIsBack) {
  Start(NodeYaml("node-1") + PodYaml("before"));
  AwaitPlaces(1);
  server_->server().GoAway(std::chrono::milliseconds(200));
  AwaitThat([&] {
    try {
      CreatePod("after");
      return true;
    } catch (const TransportError&) {
      return false;
    }
  });
  EXPECT_THAT(AwaitPlaces(2), SizeIs(2));
}

}  // namespace
}  // namespace minisched
