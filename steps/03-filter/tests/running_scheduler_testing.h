#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <stop_token>
#include <string>
#include <thread>

#include "minisched/api/conditions.h"
#include "minisched/base/fake_clock.h"
#include "minisched/client/client.h"
#include "minisched/metrics/metrics.h"
#include "minisched/trace/trace.h"
#include "scheduler.h"
#include "testing/embedded_server.h"

namespace minisched {

// Return the manifest of a node or a pod.
inline std::string NodeYaml(const std::string& name) {
  return "---\n{apiVersion: v1, kind: Node, metadata: {name: " + name +
         "}, status: {allocatable: {pods: 110}}}\n";
}

inline std::string PodYaml(const std::string& name,
                           const std::string& more = "") {
  return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name +
         "}, spec: {schedulerName: minisched, " + more +
         "containers: [{name: c, image: i}]}}\n";
}

inline std::string CordonedNode(const std::string& name) {
  return "---\n{apiVersion: v1, kind: Node, metadata: {name: " + name +
         "}, spec: {unschedulable: true}, "
         "status: {allocatable: {pods: 110}}}\n";
}

// Returns a pod's PodScheduled condition as "reason: message", or "" if the pod
// has none.
inline std::string WhyPending(Client& client, const std::string& pod) {
  const auto object = client.Get<Pod>("default", pod);
  const Condition* condition =
      FindCondition(object->status.conditions, "PodScheduled");
  return condition == nullptr ? ""
                              : condition->reason + ": " + condition->message;
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
    scheduler_ = std::make_unique<Running>(*client_, options, clock_, metrics_);
    clock_.AwaitSleepers(kSleepers);
  }

  // Stops the scheduler, and blocks until it has ended.
  void StopScheduler() { scheduler_.reset(); }

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

  // Advances the scheduler's clock until `done` returns true. Advances it by
  // less than the five minutes after which the queue moves each pod, so a pod
  // that no event moves fails the test.
  void AwaitThat(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    const auto last = clock_.Now() + std::chrono::minutes(4);
    while (!done()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      if (clock_.Now() < last) clock_.Advance(std::chrono::milliseconds(100));
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  // Blocks until pods that have failed once, with an error, have been tried
  // again.
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
  Metrics metrics_;
  std::unique_ptr<EmbeddedServer> server_;
  std::unique_ptr<Client> client_;

 private:
  // How long tests wait at most.
  static constexpr std::chrono::seconds kPatience{20};

  // The scheduler's threads that sleep on the clock: one flushes the queue, one
  // writes events.
  static constexpr std::size_t kSleepers = 2;

  struct Running {
    Running(Client& client, const SchedulerOptions& options, Clock& clock,
            Metrics& metrics)
        : trace("minisched", clock),
          scheduler({client, "minisched", trace, {}, metrics}, options, clock),
          thread([this](std::stop_token stop) { scheduler.Run(stop); }) {}

    Trace trace;
    Scheduler scheduler;
    std::jthread thread;
  };
  std::unique_ptr<Running> scheduler_;
};

}  // namespace minisched
