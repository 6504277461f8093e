// Tests that no pod is evicted in vain, whatever the scheduler doesn't know
// yet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <sstream>
#include <string>
#include <thread>

#include "tests/permit_testing.h"
#include "tests/preemption_testing.h"
#include "tests/running_scheduler_testing.h"

namespace minisched {
namespace {

// A node for one pod.
std::string TinyNode(const std::string& name, const std::string& more = "") {
  return "---\n{apiVersion: v1, kind: Node, metadata: {name: " + name +
         "}, spec: {" + more + "}, status: {allocatable: {pods: 1}}}\n";
}

constexpr char kUrgent[] = R"(---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high},
 value: 1000}
---
{apiVersion: v1, kind: Pod, metadata: {name: urgent},
 spec: {schedulerName: minisched, priorityClassName: high,
 containers: [{name: c, image: i}]}}
)";

class PreemptionInVainTest : public SchedulerTest {
 protected:
  // Starts a scheduler that gets no changes of pods after its list.
  void StartBlind(const std::string& manifest, const std::string& faults = "") {
    StartServer(manifest);
    server_->server().SetFaults(
        "faults: [{match: {verbs: [watch], resource: pods}, "
        "watch: {delay: 1h}}" +
        faults + "]");
    StartScheduler();
  }

  // Returns how many requests for pods the server has received.
  int Count(const std::string& verb) {
    std::istringstream metrics(
        client_->Send({.method = "GET", .path = "/metrics"}));
    int count = 0;
    for (std::string line; std::getline(metrics, line);) {
      if (line.starts_with("apiserver_request_total{") &&
          line.find("verb=\"" + verb + "\"") != std::string::npos &&
          line.find("resource=\"pods\"") != std::string::npos) {
        count += std::stoi(line.substr(line.rfind(' ')));
      }
    }
    return count;
  }

  // Advances the clock by minutes, with events that could wake the preemptor.
  void LetTimePass() {
    for (int i = 0; i < 60; ++i) {
      client_->Patch<Node>(
          "", "a", PatchType::kMerge,
          R"({"metadata":{"labels":{"i":")" + std::to_string(i) + R"("}}})");
      clock_.Advance(std::chrono::seconds(10));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  void Uncordon() {
    client_->Patch<Node>("", "a", PatchType::kMerge,
                         R"({"spec":{"unschedulable":null}})");
  }
};

TEST_F(PreemptionInVainTest, AVictimWhoseDeletionIsWithheldIsEvictedOnce) {
  StartBlind(TinyNode("a", "unschedulable: true") +
             PodYaml("web", "nodeName: a, ") + kUrgent);
  AwaitThat([this] { return !WhyPending(*client_, "urgent").empty(); });
  client_->Delete<Pod>("default", "web", {.grace_period_seconds = 0});
  const int before = Count("DELETE") + Count("PATCH");
  Uncordon();
  AwaitThat([&] { return Count("DELETE") + Count("PATCH") > before; });
  LetTimePass();
  // One PATCH of the victim, and two of the preemptor, because the first one
  // has an old version.
  EXPECT_EQ(Count("DELETE") + Count("PATCH"), before + 3);
}

TEST_F(PreemptionInVainTest, AnEvictionWhoseResponseIsLostIsNotRepeated) {
  StartBlind(TinyNode("a") + TinyNode("b") + PodYaml("web-1", "nodeName: a, ") +
                 PodYaml("web-2", "nodeName: b, ") + kUrgent,
             ", {match: {verbs: [delete], userAgent: \"!kubectl/*\"}, "
             "drop: after}");
  AwaitThat([this] { return Count("DELETE") > 0; });
  LetTimePass();
  EXPECT_EQ(Count("DELETE"), 1);
}

Pod ImportantPod(const std::string& name, int priority,
                 const std::string& node = "") {
  Pod pod = NewPod(name);
  pod.spec.priority = priority;
  pod.spec.node_name = node;
  return pod;
}

TEST_F(PermitTest, APodThatGivesBackItsNodeLateIsTheOnlyVictim) {
  std::promise<void> go_on;
  a_.Set("waits", Code::kWait, std::chrono::minutes(1));
  a_.OnUnreserve("waits", [&] { go_on.get_future().wait(); });
  Start({NewNode("a", 1), NewNode("b", 1)},
        {ImportantPod("waits", 0), ImportantPod("web", 5, "b")});
  AwaitWaiting("waits");
  cluster_.Send("ADDED", ImportantPod("urgent", 9));
  AwaitMove("urgent", Place::kUnschedulable);
  for (int i = 0; i < 20; ++i) {
    clock_.Advance(std::chrono::seconds(1));
    SchedulerPeer::Queue(*scheduler_).FlushBackoffQCompleted();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (const auto& request : cluster_.AwaitWrites(0)) {
    EXPECT_NE(request.method, "DELETE") << request.target;
  }
  go_on.set_value();
  AwaitThat([&] {
    clock_.Advance(std::chrono::seconds(1));
    return Queued().in_flight.empty() && Queued().unschedulable.size() == 1;
  });
  EXPECT_EQ(TakeBinding(), "urgent");
  Succeed("urgent");
}

}  // namespace
}  // namespace minisched
