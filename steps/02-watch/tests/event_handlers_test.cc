#include "event_handlers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "minisched/base/fake_clock.h"
#include "testing/embedded_server.h"

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

  // Pops the next pod and requeues it as failed.
  void Fail() { queue_.AddUnschedulableIfNotPresent(*queue_.Pop()); }

  // Makes the failed pods due for another attempt and returns their names.
  std::vector<std::string> PopRetries() {
    EXPECT_THAT(PopUpTo("now"), IsEmpty());
    clock_.Advance(std::chrono::seconds(1));
    queue_.FlushUnschedulablePods();
    return PopUpTo("later");
  }

  FakeClock clock_;
  std::optional<EmbeddedServer> server_;
  std::optional<Client> client_;

 private:
  Trace trace_{"minisched", clock_};
  SchedulingQueue queue_{clock_, trace_, [this](const ObjectMeta& pod) {
                           return informers_->Of<Pod>().store().Get(
                               pod.namespace_name, pod.name);
                         }};
  EventHandlers handlers_{queue_, "minisched"};
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

TEST_F(EventHandlersTest, RetriesAFailedPod) {
  Start(WithSpec("web-0"));
  Fail();
  Label("web-0");
  EXPECT_THAT(PopRetries(), ElementsAre("web-0"));
}

TEST_F(EventHandlersTest, RemovesAPodThatEnds) {
  Start(WithSpec("web-0"));
  Fail();
  End("web-0", "Failed");
  EXPECT_THAT(PopRetries(), IsEmpty());
}

TEST_F(EventHandlersTest, RemovesAPodThatIsBound) {
  Start(WithSpec("web-0"));
  Fail();
  Binding binding;
  binding.metadata.namespace_name = "default";
  binding.metadata.name = "web-0";
  binding.target = {.kind = "Node", .name = "node-1"};
  client_->Bind(binding);
  EXPECT_THAT(PopRetries(), IsEmpty());
}

TEST_F(EventHandlersTest, RemovesAPodThatIsDeleted) {
  Start(WithSpec("web-0"));
  Fail();
  client_->Delete<Pod>("default", "web-0", {.grace_period_seconds = 0});
  EXPECT_THAT(PopRetries(), IsEmpty());
}

TEST_F(EventHandlersTest, TheHandlersAreInSyncAfterTheListOfPods) {
  StartServer(WithSpec("web-0"));
  AddHandlers();
  auto in_sync = HandlersSync();
  EXPECT_EQ(in_sync.wait_for(kAMoment), std::future_status::timeout);
  StartInformer<Pod>();
  EXPECT_TRUE(in_sync.get());
}

}  // namespace
}  // namespace minisched
