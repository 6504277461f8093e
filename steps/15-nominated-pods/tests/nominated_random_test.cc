// Random changes around preemptions, in a whole scheduler. Whatever happens, no
// pod is stuck in the end.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "minisched/api/pod_preemption.h"
#include "tests/running_scheduler_testing.h"

namespace minisched {
namespace {

constexpr int kRandomRuns = 20;
constexpr int kOperationsPerRun = 25;
constexpr int kNodeCount = 3;
constexpr int kNodeCpu = 4;  // of each node

// Less than the five minutes after which the queue moves each pod.
constexpr std::chrono::seconds kLongestWait{200};

std::string Classes() {
  std::string yaml;
  for (int i = 1; i <= 3; ++i) {
    const std::string n = std::to_string(i);
    yaml +=
        "---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, "
        "metadata: {name: p" +
        n + "}, value: " + n + "}\n";
  }
  return yaml;
}

std::string NodeNumbered(int number) {
  return "---\n{apiVersion: v1, kind: Node, metadata: {name: node-" +
         std::to_string(number) +
         "}, status: {allocatable: {cpu: " + std::to_string(kNodeCpu) +
         ", pods: 110}}}\n";
}

int CpuOf(const Pod& pod) {
  return static_cast<int>(
      pod.spec.containers[0].resources.requests.at("cpu").Value());
}

// A cluster without kubelets: pods that are deleted stay until End().
class NominatedRandomTest : public SchedulerTest {
 protected:
  using Pods = std::vector<std::shared_ptr<const Pod>>;

  int Below(int n) {
    return static_cast<int>(random_() % static_cast<unsigned>(n));
  }

  Pods AllPods() { return client_->List<Pod>().items; }

  // Returns a random pod for which `predicate` holds, or null.
  template <class Predicate>
  std::shared_ptr<const Pod> AnyPod(const Predicate& predicate) {
    Pods pods = AllPods();
    std::erase_if(pods, [&](const auto& pod) { return !predicate(*pod); });
    return pods.empty() ? nullptr : pods[Below(static_cast<int>(pods.size()))];
  }

  void End(const Pod& pod) {
    try {
      client_->Delete<Pod>("default", pod.metadata.name,
                           {.grace_period_seconds = 0});
    } catch (const std::exception&) {  // it is gone, or a fault
    }
  }

  void CreateAnyPod() {
    Pod pod;
    pod.metadata.namespace_name = "default";
    pod.metadata.name = "pod-" + std::to_string(++created_);
    pod.spec.scheduler_name = "minisched";
    const int priority = Below(4);
    if (priority > 0) {
      pod.spec.priority_class_name = "p" + std::to_string(priority);
    }
    pod.spec.containers = {{.name = "c", .image = "i"}};
    pod.spec.containers[0].resources.requests["cpu"] =
        Quantity::FromValue(1 + Below(kNodeCpu));
    client_->Create(pod);
  }

  void EndAVictim() {
    const auto pod = AnyPod([](const Pod& candidate) {
      return candidate.metadata.deletion_timestamp.has_value();
    });
    if (pod) End(*pod);
  }

  void DeleteAPendingPod() {
    const auto pod = AnyPod(
        [](const Pod& candidate) { return candidate.spec.node_name.empty(); });
    if (pod) End(*pod);
  }

  void NominateAnyPod() {
    const auto pod = AnyPod(
        [](const Pod& candidate) { return candidate.spec.node_name.empty(); });
    if (!pod) return;
    const int number = Below(kNodeCount + 1);
    const std::string node = number == kNodeCount
                                 ? "null"
                                 : "\"node-" + std::to_string(number) + "\"";
    try {
      // The version, because the pod may be bound by now.
      client_->Patch<Pod>("default", pod->metadata.name, PatchType::kMerge,
                          R"({"metadata":{"resourceVersion":")" +
                              pod->metadata.resource_version +
                              R"("},"status":{"nominatedNodeName":)" + node +
                              "}}",
                          "status");
    } catch (const std::exception&) {  // it is gone, or bound, or a fault
    }
  }

  void ReplaceANode() {
    const std::string name = "node-" + std::to_string(Below(kNodeCount));
    client_->Delete<Node>("", name);
    for (const auto& pod : AllPods()) {
      if (pod->spec.node_name == name) End(*pod);
    }
    Node node;
    node.metadata.name = name;
    node.status.allocatable = {{"cpu", Quantity::FromValue(kNodeCpu)},
                               {"pods", Quantity::FromValue(110)}};
    client_->Create(node);
  }

  // Some of the requests that fail take effect. New watches are late.
  void LetEvictionsFail() {
    static constexpr const char* kFaults[] = {
        "error: {code: 500}", "error: {code: 409}",
        "error: {code: 503, after: true}", "drop: after"};
    const std::string fault =
        ", times: " + std::to_string(1 + Below(4)) + ", " + kFaults[Below(4)];
    server_->server().SetFaults(
        "faults: [{match: {verbs: [delete], resource: pods}" + fault +
        "}, {match: {verbs: [patch], resource: pods/status}" + fault +
        "}, {match: {verbs: [watch], resource: pods}, watch: {delay: " +
        std::to_string(1 + 10 * Below(4)) + "ms}}]");
  }

  void Operate() {
    const int roll = Below(100);
    if (roll < 35) return CreateAnyPod();
    if (roll < 60) return EndAVictim();
    if (roll < 70) return DeleteAPendingPod();
    if (roll < 82) return NominateAnyPod();
    if (roll < 87) return ReplaceANode();
    if (roll < 93) return LetEvictionsFail();
    StartScheduler();
  }

  // Returns the name of a pending pod that would fit a node, if need be without
  // less important pods, or of a bound pod that still has a nominated node. ""
  // if there is none.
  std::string Stuck() {
    const Pods pods = AllPods();
    for (const auto& pod : pods) {
      const std::string& name = pod->metadata.name;
      if (!pod->spec.node_name.empty()) {
        if (!pod->status.nominated_node_name.empty()) return name;
        continue;
      }
      for (int i = 0; i < kNodeCount; ++i) {
        const std::string node = "node-" + std::to_string(i);
        int used = CpuOf(*pod);
        for (const auto& other : pods) {
          const bool counts = other->spec.node_name == node ||
                              other->status.nominated_node_name == node;
          if (counts && other != pod && !other->metadata.deletion_timestamp &&
              PodPriority(*other) >= PodPriority(*pod)) {
            used += CpuOf(*other);
          }
        }
        if (used <= kNodeCpu) return name;
      }
    }
    return "";
  }

  // Describes all pods, for a failure.
  std::string Describe() {
    std::string text;
    for (const auto& pod : AllPods()) {
      text += "\n" + pod->metadata.name + ", priority " +
              std::to_string(PodPriority(*pod)) + ", cpu " +
              std::to_string(CpuOf(*pod)) + ", on " + pod->spec.node_name +
              ", nominated to " + pod->status.nominated_node_name +
              (pod->metadata.deletion_timestamp ? ", ending; " : "; ") +
              WhyPending(*client_, pod->metadata.name);
    }
    return text;
  }

  std::mt19937 random_;
  int created_ = 0;
};

TEST_F(NominatedRandomTest, NoPodIsStuck) {
  const int flag = GTEST_FLAG_GET(random_seed);
  const unsigned seed = flag != 0 ? flag : std::random_device{}() % 99'990 + 1;
  for (unsigned run = seed; run < seed + kRandomRuns; ++run) {
    SCOPED_TRACE("--gtest_random_seed=" + std::to_string(run));
    random_.seed(run);
    std::string yaml = Classes();
    for (int i = 0; i < kNodeCount; ++i) yaml += NodeNumbered(i);
    Start(yaml);
    for (int i = 0; i < kOperationsPerRun; ++i) {
      Operate();
      for (int tick = Below(4); tick > 0; --tick) {
        clock_.Advance(std::chrono::milliseconds(500));
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    }
    server_->server().SetFaults("{}");
    const auto deadline = clock_.Now() + kLongestWait;
    while (!Stuck().empty()) {
      ASSERT_LT(clock_.Now(), deadline)
          << Stuck() << " is stuck:" << Describe();
      EndAVictim();
      clock_.Advance(std::chrono::milliseconds(500));
      // A slow machine gets ten more seconds.
      const bool is_late = clock_.Now() > deadline - kLongestWait / 2;
      std::this_thread::sleep_for(std::chrono::milliseconds(is_late ? 50 : 4));
    }
  }
}

}  // namespace
}  // namespace minisched
