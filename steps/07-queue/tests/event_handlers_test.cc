#include "event_handlers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "minisched/base/fake_clock.h"
#include "testing/embedded_server.h"
#include "tests/scheduling_queue_peer_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Returns a pod as YAML. Without a `spec`, it is a pod of our scheduler.
std::string WithSpec(const std::string& name, const std::string& spec = "") {
  return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name +
         "}, spec: {" + (spec.empty() ? "schedulerName: minisched" : spec) +
         ", containers: [{name: c, image: i}]}}\n";
}

constexpr char kTwoGates[] =
    "schedulerName: minisched, schedulingGates: [{name: a}, {name: b}]";

// How long a test waits for what must not happen.
constexpr std::chrono::milliseconds kAMoment{100};

class EventHandlersTest : public ::testing::Test {
 protected:
  void StartServer(const std::string& manifest) {
    server_.emplace(manifest);
    client_.emplace(server_->config());
  }

  // Adds the handlers to informers that don't run yet.
  void AddHandlers() {
    informers_.emplace(*client_, clock_);
    informers_->Add<Pod>(
        {.field_selector = "status.phase!=Succeeded,status.phase!=Failed"});
    informers_->Add<Node>({});
    handlers_.AddAllEventHandlers(*informers_);
  }

  // Starts the informers and blocks until the queue has all pending pods.
  void StartInformers() {
    AddHandlers();
    informers_->Start({});
    ASSERT_TRUE(informers_->WaitForCacheSync({}));
    ASSERT_TRUE(handlers_.WaitForHandlersSync({}));
  }

  // Starts only the informer of T.
  template <class T>
  void StartInformer() {
    informers_->Of<T>().Start({});
  }

  // Returns the result of WaitForHandlersSync(), once it returns.
  std::future<bool> HandlersSync() {
    return std::async(std::launch::async,
                      [this] { return handlers_.WaitForHandlersSync({}); });
  }

  void Start(const std::string& manifest) {
    StartServer(manifest);
    StartInformers();
  }

  void Create(const std::string& name) {
    Pod pod;
    pod.metadata.namespace_name = "default";
    pod.metadata.name = name;
    pod.spec.scheduler_name = "minisched";
    pod.spec.containers = {{.name = "c", .image = "i"}};
    client_->Create(pod);
  }

  void Patch(const std::string& name, const std::string& patch,
             const std::string& subresource = "") {
    client_->Patch<Pod>("default", name, PatchType::kMerge, patch, subresource);
  }

  void Bind(const std::string& pod, const std::string& node) {
    Binding binding;
    binding.metadata.namespace_name = "default";
    binding.metadata.name = pod;
    binding.target = {.kind = "Node", .name = node};
    client_->Bind(binding);
  }

  void Label(const std::string& name) {
    Patch(name, R"({"metadata":{"labels":{"colour":"red"}}})");
  }

  void End(const std::string& name, const std::string& phase) {
    Patch(name, R"({"status":{"phase":")" + phase + "\"}}", "status");
  }

  // Creates the pod `last` and pops all pods up to it. Returns the other names.
  std::vector<std::string> PopUpTo(const std::string& last) {
    Create(last);
    std::vector<std::string> names;
    while (const auto info = queue_.Pop()) {
      if (info->pod->metadata.name == last) break;
      names.push_back(info->pod->metadata.name);
    }
    return names;
  }

  // Assumes the next pod on the node and ends its attempt. Returns the pod.
  PodPtr Assume(const std::string& node) {
    auto pod = std::make_shared<Pod>(*queue_.Pop()->pod);
    pod->spec.node_name = node;
    EXPECT_TRUE(cache_.AssumePod(NewPodInfo(pod)).IsSuccess());
    queue_.Done(pod->metadata.uid);
    return pod;
  }

  // Pops the next pod and requeues it as rejected.
  void Reject() {
    QueuedPodInfo info = *queue_.Pop();
    info.unschedulable_plugins = {"NodeResourcesFit"};
    queue_.AddUnschedulableIfNotPresent(std::move(info));
  }

  void WakeAll() { queue_.MoveAllToActiveOrBackoffQueue("NodeAdd"); }

  // Returns the names of the pods that have been woken: after their backoff,
  // they are tried again.
  std::vector<std::string> PopRetries() {
    EXPECT_THAT(PopUpTo("now"), IsEmpty());
    clock_.Advance(std::chrono::seconds(1));
    queue_.FlushBackoffQCompleted();
    return PopUpTo("later");
  }

  // Blocks until the event has moved the pod to backoffQ.
  void AwaitWoken(const std::string& name, const std::string& event) {
    while (true) {
      for (const RecordPtr& record : places_.Next({})) {
        const auto* pod = std::get_if<PodRecord>(&record->state);
        if (pod == nullptr || pod->pod != "default/" + name) continue;
        if (pod->place != Place::kBackoff) continue;
        EXPECT_EQ(pod->move.event, event);
        return;
      }
    }
  }

  // Returns the cache's nodes with their pods: "node-1: a b".
  std::vector<std::string> CachedNodes() {
    cache_.UpdateSnapshot(snapshot_);
    std::vector<std::string> nodes;
    for (const NodeInfo* node : snapshot_.List()) {
      std::string& text = nodes.emplace_back(node->node().metadata.name + ":");
      std::set<std::string> pods;
      for (const PodInfoPtr& pod : node->pods()) {
        pods.insert(pod->pod->metadata.name);
      }
      for (const std::string& pod : pods) text += " " + pod;
    }
    return nodes;
  }

  // Blocks until CachedNodes() returns `expected`.
  void AwaitCachedNodes(const std::vector<std::string>& expected) {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (CachedNodes() != expected) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  FakeClock clock_;
  Cache cache_;
  Snapshot snapshot_;
  std::optional<EmbeddedServer> server_;
  std::optional<Client> client_;

 private:
  Trace trace_{"minisched", clock_};
  TraceReader places_{trace_};
  const Framework framework_ = FrameworkWithPrioritySort();
  SchedulingQueue queue_{
      clock_, trace_, framework_, [this](const ObjectMeta& pod) {
        return informers_->Of<Pod>().store().Get(pod.namespace_name, pod.name);
      }};
  EventHandlers handlers_{queue_, cache_, "minisched"};
  // Last, because it calls the event handlers.
  std::optional<SharedInformerFactory> informers_;
};

TEST_F(EventHandlersTest, QueuesPendingPodsOfOurScheduler) {
  Start(WithSpec("bound", "schedulerName: minisched, nodeName: node-1") +
        WithSpec("gated", kTwoGates) +
        WithSpec("other", "schedulerName: somebody-else") + WithSpec("web-0"));
  Create("web-1");
  EXPECT_THAT(PopUpTo("last"), ElementsAre("web-0", "web-1"));
}

TEST_F(EventHandlersTest, IgnoresUpdatesOfAnotherSchedulersPod) {
  Start(WithSpec("other", "schedulerName: somebody-else"));
  Label("other");
  EXPECT_THAT(PopUpTo("last"), IsEmpty());
}

TEST_F(EventHandlersTest, QueuesAGatedPodWhenItsLastGateIsRemoved) {
  Start(WithSpec("gated", kTwoGates));
  Label("gated");
  Patch("gated", R"({"spec":{"schedulingGates":[{"name":"b"}]}})");
  Create("web-0");
  Patch("gated", R"({"spec":{"schedulingGates":null}})");
  EXPECT_THAT(PopUpTo("last"), ElementsAre("web-0", "gated"));
}

TEST_F(EventHandlersTest, IgnoresPodsThatHaveEnded) {
  StartServer(WithSpec("failed") + WithSpec("succeeded"));
  End("failed", "Failed");
  End("succeeded", "Succeeded");
  StartInformers();
  Label("failed");
  EXPECT_THAT(PopUpTo("last"), IsEmpty());
}

TEST_F(EventHandlersTest, WakesAPodThatChanges) {
  Start(WithSpec("web-0"));
  Reject();
  Label("web-0");
  EXPECT_THAT(PopRetries(), ElementsAre("web-0"));
}

TEST_F(EventHandlersTest, RemovesAPodThatEnds) {
  Start(WithSpec("web-0"));
  Reject();
  End("web-0", "Failed");
  EXPECT_THAT(PopUpTo("gone"), IsEmpty());
  WakeAll();
  EXPECT_THAT(PopRetries(), IsEmpty());
}

TEST_F(EventHandlersTest, RemovesAPodThatIsBound) {
  Start(WithSpec("web-0"));
  Reject();
  Bind("web-0", "node-1");
  EXPECT_THAT(PopRetries(), IsEmpty());
}

TEST_F(EventHandlersTest, RemovesAPodThatIsDeleted) {
  Start(WithSpec("web-0"));
  Reject();
  client_->Delete<Pod>("default", "web-0", {.grace_period_seconds = 0});
  EXPECT_THAT(PopUpTo("gone"), IsEmpty());
  WakeAll();
  EXPECT_THAT(PopRetries(), IsEmpty());
}

TEST_F(EventHandlersTest, AChangeOfItsStatusDoesNotWakeAPod) {
  Start(WithSpec("web-0"));
  Reject();
  Patch("web-0", R"({"status":{"message":"Hello"}})", "status");
  EXPECT_THAT(PopRetries(), IsEmpty());
}

std::string NodeWithCpu(const std::string& name, int cpu) {
  return "---\n{apiVersion: v1, kind: Node, metadata: {name: " + name +
         "}, status: {allocatable: {cpu: " + std::to_string(cpu) + "}}}\n";
}

TEST_F(EventHandlersTest, CachesAllNodesAndTheirPods) {
  Start(NodeWithCpu("node-1", 4) + NodeWithCpu("node-2", 4) +
        WithSpec("bound", "schedulerName: minisched, nodeName: node-1") +
        WithSpec("other", "schedulerName: somebody-else, nodeName: node-1") +
        WithSpec("pending") + WithSpec("lost", "nodeName: node-9"));
  EXPECT_THAT(CachedNodes(), ElementsAre("node-1: bound other", "node-2:"));
}

TEST_F(EventHandlersTest, UpdatesTheCacheWhenNodesChange) {
  Start(NodeWithCpu("node-1", 4) +
        WithSpec("bound", "schedulerName: minisched, nodeName: node-1"));
  client_->Patch<Node>("", "node-1", PatchType::kMerge,
                       R"({"status":{"allocatable":{"cpu":"8"}}})", "status");
  Node node;
  node.metadata.name = "node-2";
  client_->Create(node);
  AwaitCachedNodes({"node-1: bound", "node-2:"});
  EXPECT_EQ(snapshot_.Get("node-1")->allocatable().milli_cpu, 8000);
  client_->Delete<Node>("", "node-1", {});
  AwaitCachedNodes({"node-2:"});
}

TEST_F(EventHandlersTest, UpdatesTheCacheWhenPodsChange) {
  Start(NodeWithCpu("node-1", 4) + WithSpec("web-0") +
        WithSpec("deleted", "nodeName: node-1") +
        WithSpec("ended", "nodeName: node-1") +
        WithSpec("labelled", "nodeName: node-1"));
  Bind("web-0", "node-1");
  client_->Delete<Pod>("default", "deleted", {.grace_period_seconds = 0});
  End("ended", "Succeeded");
  Label("labelled");
  PopUpTo("last");
  ASSERT_THAT(CachedNodes(), ElementsAre("node-1: labelled web-0"));
  const Pod& labelled = *snapshot_.Get("node-1")->pods().back()->pod;
  EXPECT_EQ(labelled.metadata.labels.at("colour"), "red");
}

TEST_F(EventHandlersTest, ConfirmsAnAssumedPod) {
  Start(NodeWithCpu("node-1", 4) + NodeWithCpu("node-2", 4) +
        WithSpec("web-0"));
  const PodPtr assumed = Assume("node-1");
  Label("web-0");
  EXPECT_THAT(PopUpTo("first"), IsEmpty());
  EXPECT_TRUE(cache_.IsAssumedPod(*assumed));
  EXPECT_THAT(CachedNodes(), ElementsAre("node-1: web-0", "node-2:"));
  Bind("web-0", "node-2");
  PopUpTo("second");
  EXPECT_FALSE(cache_.IsAssumedPod(*assumed));
  EXPECT_THAT(CachedNodes(), ElementsAre("node-1:", "node-2: web-0"));
}

// A change in the cluster that wakes a rejected pod.
struct EventCase {
  std::string name;
  std::function<void(Client&)> change;
};

std::string NameOfEventCase(const ::testing::TestParamInfo<EventCase>& info) {
  return info.param.name;
}

class EventTest : public EventHandlersTest,
                  public ::testing::WithParamInterface<EventCase> {};

TEST_P(EventTest, WakesARejectedPod) {
  Start(NodeWithCpu("node-1", 4) + WithSpec("waiting") +
        WithSpec("bound", "nodeName: node-1"));
  Reject();
  GetParam().change(*client_);
  // The change of a node comes by another watch than PopRetries()' pods.
  AwaitWoken("waiting", GetParam().name);
  EXPECT_THAT(PopRetries(), ElementsAre("waiting"));
}

INSTANTIATE_TEST_SUITE_P(
    All, EventTest,
    ::testing::Values(
        EventCase{"NodeAdd",
                  [](Client& client) {
                    Node node;
                    node.metadata.name = "node-2";
                    client.Create(node);
                  }},
        EventCase{"NodeUpdate",
                  [](Client& client) {
                    client.Patch<Node>("", "node-1", PatchType::kMerge,
                                       R"({"spec":{"unschedulable":true}})");
                  }},
        EventCase{
            "NodeDelete",
            [](Client& client) { client.Delete<Node>("", "node-1", {}); }},
        EventCase{"AssignedPodAdd",
                  [](Client& client) {
                    Pod pod;
                    pod.metadata.namespace_name = "default";
                    pod.metadata.name = "new";
                    pod.spec.node_name = "node-1";
                    pod.spec.containers = {{.name = "c", .image = "i"}};
                    client.Create(pod);
                  }},
        EventCase{"AssignedPodUpdate",
                  [](Client& client) {
                    client.Patch<Pod>(
                        "default", "bound", PatchType::kMerge,
                        R"({"metadata":{"labels":{"colour":"red"}}})");
                  }},
        EventCase{"AssignedPodDelete",
                  [](Client& client) {
                    client.Patch<Pod>("default", "bound", PatchType::kMerge,
                                      R"({"status":{"phase":"Succeeded"}})",
                                      "status");
                  }}),
    NameOfEventCase);

// The pod takes no room, so its deletion helps nobody.
TEST_F(EventHandlersTest, TheDeletionOfAPendingPodWakesNoOtherPod) {
  Start(WithSpec("waiting") +
        WithSpec("pending", "schedulerName: somebody-else"));
  Reject();
  client_->Delete<Pod>("default", "pending", {.grace_period_seconds = 0});
  EXPECT_THAT(PopRetries(), IsEmpty());
}

TEST_F(EventHandlersTest, TheDeletionOfAnAssumedPodWakesOtherPods) {
  Start(NodeWithCpu("node-1", 4) + WithSpec("waiting"));
  Reject();
  Create("assumed");
  Assume("node-1");
  client_->Delete<Pod>("default", "assumed", {.grace_period_seconds = 0});
  EXPECT_THAT(PopRetries(), ElementsAre("waiting"));
}

TEST_F(EventHandlersTest, TheHandlersAreInSyncAfterTheListsOfPodsAndNodes) {
  StartServer(WithSpec("web-0"));
  AddHandlers();
  auto in_sync = HandlersSync();
  StartInformer<Pod>();
  EXPECT_EQ(in_sync.wait_for(kAMoment), std::future_status::timeout);
  StartInformer<Node>();
  EXPECT_TRUE(in_sync.get());
}

TEST_F(EventHandlersTest, TheHandlersAreInSyncAfterTheListsOfNodesAndPods) {
  StartServer(WithSpec("web-0"));
  AddHandlers();
  auto in_sync = HandlersSync();
  StartInformer<Node>();
  EXPECT_EQ(in_sync.wait_for(kAMoment), std::future_status::timeout);
  StartInformer<Pod>();
  EXPECT_TRUE(in_sync.get());
}

}  // namespace
}  // namespace minisched
