// Tests which events the queue gets, and with which objects.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "minisched/base/mutex.h"
#include "tests/event_handlers_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;

constexpr char kEventsManifest[] = R"(
{apiVersion: v1, kind: Node, metadata: {name: node-0}}
---
{apiVersion: v1, kind: Node, metadata: {name: node-1},
 status: {allocatable: {cpu: 4},
          conditions: [{type: Ready, status: "True", message: old}]}}
)";

template <class T>
std::string TextOf(const T& object) {
  std::string text = object.metadata.name;
  if constexpr (std::is_same_v<T, Pod>) {
    if (!object.spec.node_name.empty()) text += "@" + object.spec.node_name;
  }
  if (object.metadata.labels.contains("colour")) text += "[red]";
  return text;
}

std::string TextOf(const std::shared_ptr<const Node>& node,
                   const std::shared_ptr<const Pod>& pod) {
  return node ? TextOf(*node) : pod ? TextOf(*pod) : "none";
}

// Records the events that reach the hint of a rejected pod.
class EventsTest : public EventHandlersTest {
 protected:
  // Starts the informers with two nodes, the pod "bound" on node-1, the pod
  // "other" of another scheduler and the pod "waiting", which a plugin has
  // rejected.
  void SetUp() override {
    Start(kEventsManifest +
          WithSpec("bound", "schedulerName: minisched, nodeName: node-1") +
          WithSpec("other", "schedulerName: somebody-else") +
          WithSpec("waiting"));
    Reject("Recorder");
  }

  // Returns the events so far: "NodeUpdateNodeLabel: node-1 -> node-1[red]". A
  // pod with a node is "pod@node", an object with a label "object[red]".
  std::vector<std::string> Events() {
    // The last changes of both watches.
    Node node;
    node.metadata.name = "last";
    client_->Create(node);
    Pod pod;
    pod.metadata.namespace_name = "default";
    pod.metadata.name = "last";
    pod.spec.node_name = "node-0";
    pod.spec.containers = {{.name = "c", .image = "i"}};
    client_->Create(pod);
    return UpTo(
        {"NodeAdd: none -> last", "AssignedPodAdd: none -> last@node-0"});
  }

 private:
  QueueingHint Record(const ClusterChange& change) override {
    MutexLock lock(mu_);
    events_.push_back(fmt::format("{}: {} -> {}{}", change.event.Label(),
                                  TextOf(change.Old<Node>(), change.Old<Pod>()),
                                  TextOf(change.New<Node>(), change.New<Pod>()),
                                  CacheHas(change) ? "" : " before the cache"));
    recorded_.NotifyAll();
    return QueueingHint::kSkip;
  }

  // Blocks until the last events have come, and returns the others. Throws
  // std::runtime_error after 20 s.
  std::vector<std::string> UpTo(const std::vector<std::string>& last) {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(20);
    MutexLock lock(mu_);
    for (const std::string& event : last) {
      const auto is_last = [&](const std::string& one) {
        return one.starts_with(event);
      };
      while (std::erase_if(events_, is_last) == 0) {
        if (std::chrono::steady_clock::now() >= deadline) {
          throw std::runtime_error("no event " + event);
        }
        recorded_.WaitUntil(mu_, {}, deadline);
      }
    }
    return events_;
  }

  // Returns true if the cache has the change.
  bool CacheHas(const ClusterChange& change) REQUIRES(mu_) {
    cache_.UpdateSnapshot(cached_);
    if (const auto node = change.New<Node>()) {
      const NodeInfo* info = cached_.Get(node->metadata.name);
      return info != nullptr && &info->node() == node.get();
    }
    if (const auto node = change.Old<Node>()) {
      return cached_.Get(node->metadata.name) == nullptr;
    }
    const auto old = change.Old<Pod>();
    const auto pod = change.New<Pod>();
    if (!pod) return CachedState(*old) == nullptr;
    return pod->spec.node_name.empty() || CachedState(*pod) == pod;
  }

  // Returns the pod's state in the cache, or null.
  PodPtr CachedState(const Pod& pod) REQUIRES(mu_) {
    const NodeInfo* node = cached_.Get(pod.spec.node_name);
    if (node == nullptr) return nullptr;
    for (const PodInfoPtr& info : node->pods()) {
      if (info->pod->metadata.uid == pod.metadata.uid) return info->pod;
    }
    return nullptr;
  }

  // Lock order: the queue's lock, mu_, the cache's lock.
  Mutex mu_;
  CondVar recorded_;
  Snapshot cached_ GUARDED_BY(mu_);
  std::vector<std::string> events_ GUARDED_BY(mu_);
};

// A change in the cluster, and its events.
struct EventCase {
  std::string name;
  std::function<void(Client&)> change;
  std::vector<std::string> events;
};

class EventCaseTest : public EventsTest,
                      public ::testing::WithParamInterface<EventCase> {};

TEST_P(EventCaseTest, TheQueueGetsTheEventsAfterTheCache) {
  GetParam().change(*client_);
  EXPECT_EQ(Events(), GetParam().events);
}

constexpr char kRedLabel[] = R"({"metadata":{"labels":{"colour":"red"}}})";

std::function<void(Client&)> PatchNode(const std::string& patch,
                                       const std::string& subresource = "") {
  return [=](Client& client) {
    client.Patch<Node>("", "node-1", PatchType::kMerge, patch, subresource);
  };
}

std::function<void(Client&)> PatchPod(const std::string& name,
                                      const std::string& patch,
                                      const std::string& subresource = "") {
  return [=](Client& client) {
    client.Patch<Pod>("default", name, PatchType::kMerge, patch, subresource);
  };
}

const EventCase kNodeEvents[] = {
    {"Added",
     [](Client& client) {
       Node node;
       node.metadata.name = "node-2";
       client.Create(node);
     },
     {"NodeAdd: none -> node-2"}},
    {"Labelled",
     PatchNode(kRedLabel),
     {"NodeUpdateNodeLabel: node-1 -> node-1[red]"}},
    {"Grown",
     PatchNode(R"({"status":{"allocatable":{"cpu":"8"}}})", "status"),
     {"NodeUpdateNodeAllocatable: node-1 -> node-1"}},
    {"LabelledAndTainted",
     PatchNode(R"({"metadata":{"labels":{"colour":"red"}},
                   "spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}})"),
     {"NodeUpdateNodeLabel: node-1 -> node-1[red]",
      "NodeUpdateNodeTaint: node-1 -> node-1[red]"}},
    {"AHeartbeatIsNoEvent",
     PatchNode(R"({"status":{"conditions":[
                   {"type":"Ready","status":"True","message":"new"}]}})",
               "status"),
     {}},
    {"ACordonIsNoEvent", PatchNode(R"({"spec":{"unschedulable":true}})"), {}},
    {"Deleted",
     [](Client& client) { client.Delete<Node>("", "node-1", {}); },
     {"NodeDelete: node-1 -> none"}}};

const EventCase kPodEvents[] = {
    {"CreatedWithANode",
     [](Client& client) {
       Pod pod;
       pod.metadata.namespace_name = "default";
       pod.metadata.name = "new";
       pod.spec.node_name = "node-1";
       pod.spec.containers = {{.name = "c", .image = "i"}};
       client.Create(pod);
     },
     {"AssignedPodAdd: none -> new@node-1"}},
    {"BoundByAnotherScheduler",
     [](Client& client) {
       Binding binding;
       binding.metadata.namespace_name = "default";
       binding.metadata.name = "other";
       binding.target = {.kind = "Node", .name = "node-1"};
       client.Bind(binding);
     },
     {"AssignedPodAdd: none -> other@node-1"}},
    {"BoundAndLabelled",
     PatchPod("bound", kRedLabel),
     {"AssignedPodUpdatePodLabel: bound@node-1 -> bound@node-1[red]"}},
    {"BoundAndItsStatusChanges",
     PatchPod("bound", R"({"status":{"message":"Hello"}})", "status"),
     {"AssignedPodUpdate: bound@node-1 -> bound@node-1"}},
    {"BoundAndEnds",
     PatchPod("bound", R"({"status":{"phase":"Succeeded"}})", "status"),
     {"AssignedPodDelete: bound@node-1 -> none"}},
    {"RejectedAndLabelled",
     PatchPod("waiting", kRedLabel),
     {"TargetPodUpdatePodLabel: waiting -> waiting[red]"}},
    // No plugin of ours registers a plain update.
    {"RejectedAndItsStatusChanges",
     PatchPod("waiting", R"({"status":{"message":"Hello"}})", "status"),
     {"TargetPodUpdate: waiting -> waiting"}},
    {"TheUpdateOfAnotherSchedulersPendingPodIsNoEvent",
     PatchPod("other", kRedLabel),
     {}},
    // The pod takes no room, so its deletion helps nobody.
    {"TheDeletionOfAPendingPodIsNoEvent",
     [](Client& client) {
       client.Delete<Pod>("default", "other", {.grace_period_seconds = 0});
     },
     {}}};

std::string NameOfEventCase(const ::testing::TestParamInfo<EventCase>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Node, EventCaseTest, ::testing::ValuesIn(kNodeEvents),
                         NameOfEventCase);
INSTANTIATE_TEST_SUITE_P(Pod, EventCaseTest, ::testing::ValuesIn(kPodEvents),
                         NameOfEventCase);

TEST_F(EventsTest, TheDeletionOfAnAssumedPodHasItsNode) {
  Create("assumed");
  Assume("node-1");
  client_->Delete<Pod>("default", "assumed", {.grace_period_seconds = 0});
  EXPECT_THAT(Events(),
              ElementsAre("AssignedPodDelete: assumed@node-1 -> none"));
}

}  // namespace
}  // namespace minisched
