#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "cache/pod_groups.h"
#include "event_handlers.h"
#include "framework/waiting_pods.h"
#include "minisched/base/executor.h"
#include "minisched/base/fake_clock.h"
#include "testing/embedded_server.h"
#include "tests/scheduling_queue_peer_testing.h"

// Helpers for tests of the event handlers.

namespace minisched {

// Returns a pod as YAML. Without a `spec`, it is a pod of our scheduler.
inline std::string WithSpec(const std::string& name,
                            const std::string& spec = "") {
  return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name +
         "}, spec: {" + (spec.empty() ? "schedulerName: minisched" : spec) +
         ", containers: [{name: c, image: i}]}}\n";
}

inline std::string NodeWithCpu(const std::string& name, int cpu) {
  return "---\n{apiVersion: v1, kind: Node, metadata: {name: " + name +
         "}, status: {allocatable: {cpu: " + std::to_string(cpu) + "}}}\n";
}

// A plugin that registers all events. Without a hint, each event moves its
// pods.
class InterestedPlugin final : public FilterPlugin {
 public:
  explicit InterestedPlugin(std::string_view name, QueueingHintFn hint = {})
      : name_(name), hint_(std::move(hint)) {}
  std::string_view Name() const override { return name_; }
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    return {{{EventResource::kPod, action::kAll}, hint_},
            {{EventResource::kNode, action::kAll}, hint_}};
  }
  Status Filter(const CycleState& /*state*/, const Pod& /*pod*/,
                const NodeInfo& /*node*/) const override {
    return {};
  }

 private:
  const std::string_view name_;
  const QueueingHintFn hint_;
};

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

  // After this call, no handler runs any more.
  void TearDown() override { informers_->Shutdown(); }

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

  // Pops the next pod and requeues it as rejected by the plugin.
  void Reject(std::string_view plugin = "Hopeful") {
    QueuedPodInfo info = *queue_.Pop();
    info.unschedulable_plugins = {plugin};
    queue_.AddUnschedulableIfNotPresent(std::move(info));
  }

  void WakeAll() {
    queue_.MoveAllToActiveOrBackoffQueue(
        {{EventResource::kNode, action::kAdd}, {}, std::make_shared<Node>()});
  }

  // Returns the names of the pods that have been woken: after their backoff,
  // they are tried again.
  std::vector<std::string> PopRetries() {
    EXPECT_THAT(PopUpTo("now"), ::testing::IsEmpty());
    clock_.Advance(std::chrono::seconds(1));
    queue_.FlushBackoffQCompleted();
    return PopUpTo("later");
  }

  // Returns the place of the pod and the event that brought it there. Call it
  // once.
  std::pair<Place, std::string> PlaceOf(const std::string& name) {
    std::pair<Place, std::string> place{Place::kGone, ""};
    for (const RecordPtr& record : places_.Poll()) {
      const auto* pod = std::get_if<PodRecord>(&record->state);
      if (pod == nullptr || pod->pod != "default/" + name) continue;
      place = {pod->place, pod->move.event};
    }
    return place;
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

  // A hint of the plugin "Recorder". The plugin's pods stay where they are.
  virtual QueueingHint Record(const ClusterChange& /*change*/) {
    return QueueingHint::kSkip;
  }

  FakeClock clock_;
  Framework framework_ = NewFramework();
  Cache cache_;
  Snapshot snapshot_;
  PodGroups pod_groups_{clock_};
  std::optional<EmbeddedServer> server_;
  std::optional<Client> client_;

 private:
  Framework NewFramework() {
    Framework framework = FrameworkWithPrioritySort();
    framework.Add(std::make_unique<InterestedPlugin>("Hopeful"));
    framework.Add(std::make_unique<InterestedPlugin>(
        "Recorder", [this](const Pod& /*pod*/, const ClusterChange& change) {
          return Record(change);
        }));
    return framework;
  }

  Trace trace_{"minisched", clock_};
  TraceReader places_{trace_};
  SchedulingQueue queue_{
      clock_, trace_, framework_, [this](const ObjectMeta& pod) {
        return informers_->Of<Pod>().store().Get(pod.namespace_name, pod.name);
      }};
  Executor executor_{1, clock_};
  WaitingPods waiting_pods_{executor_};
  EventHandlers handlers_{
      queue_, cache_, waiting_pods_, pod_groups_,
      [](const Pod& pod) { return pod.spec.scheduler_name == "minisched"; }};
  // Last, because it calls the event handlers.
  std::optional<SharedInformerFactory> informers_;
};

}  // namespace minisched
