#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

#include "framework/diagnosis.h"
#include "framework/waiting_pods.h"
#include "minisched/base/executor.h"
#include "minisched/base/fake_clock.h"
#include "minisched/base/mutex.h"
#include "minisched/base/wait_group.h"
#include "minisched/client/client.h"
#include "minisched/events/event_recorder.h"
#include "minisched/informer/shared_informer_factory.h"
#include "plugins/default_preemption.h"
#include "testing/scripted_cluster.h"
#include "tests/handle_testing.h"
#include "tests/preemption_testing.h"
#include "tests/snapshot_testing.h"

// Helpers for tests of the plugin DefaultPreemption.

namespace minisched {

// Returns what DefaultPreemptionTest::PostFilter() returns if it has found a
// node.
inline std::string Found(const std::string& node, int victims = 1) {
  return fmt::format(
      "Success: preemption: found a potential placement for pod on node {}, "
      "preempting {} victims [{}]",
      node, victims, node);
}

// The plugin, the parts of a scheduler that it uses, and an API server that
// accepts all writes.
class DefaultPreemptionTest : public ::testing::Test {
 protected:
  ~DefaultPreemptionTest() override {
    stop_.request_stop();
    under_way_.WaitUntil(clock_, Clock::TimePoint::max());
    executor_.Drain(Clock::TimePoint::max());
  }

  // Starts the plugin in a cluster with these objects.
  void Start(const std::vector<Node>& nodes, const std::vector<Pod>& pods,
             const std::vector<std::shared_ptr<const PodDisruptionBudget>>&
                 budgets = {}) {
    std::vector<std::shared_ptr<const Node>> shared_nodes;
    for (const Node& node : nodes) {
      shared_nodes.push_back(std::make_shared<const Node>(node));
    }
    std::vector<std::shared_ptr<const Pod>> shared_pods;
    for (const Pod& pod : pods) {
      shared_pods.push_back(std::make_shared<const Pod>(pod));
      cluster_.Add(pod);
    }
    for (const auto& budget : budgets) cluster_.Add(*budget);
    snapshot_ = NewSnapshot(shared_nodes, shared_pods);
    AddDefaultPlugins(framework_, NewHandle(snapshot_));
    client_ = std::make_unique<Client>(cluster_.config(), clock_);
    recorder_ = std::make_unique<EventRecorder>(*client_, "minisched");
    informers_ = std::make_unique<SharedInformerFactory>(*client_, clock_);
    informers_->Of<Pod>();
    informers_->Of<PodDisruptionBudget>();
    informers_->Start(stop_.get_token());
    ASSERT_TRUE(informers_->WaitForCacheSync({}));
    plugin_ = std::make_unique<DefaultPreemption>(NewHandle(
        snapshot_, {.informers = *informers_,
                    .client = *client_,
                    .waiting_pods = waiting_pods_,
                    .executor = executor_,
                    .framework = framework_,
                    .recorder = *recorder_,
                    .random = random_,
                    .under_way = under_way_,
                    .stop = stop_.get_token(),
                    .retry = [this](const PodPtr& pod) { Retry(*pod); }}));
  }

  // Returns the status of PostFilter and, in brackets, the nominated node. The
  // pod must fit no node.
  std::string PostFilter(const Pod& pod) {
    CycleState state;
    PreFilterResult left_over;
    NodeToStatus statuses;
    framework_.RunPreFilterPlugins(state, pod, snapshot_.List(), left_over);
    for (const NodeInfo* node : snapshot_.List()) {
      const Status status = framework_.RunFilterPlugins(state, pod, *node);
      EXPECT_FALSE(status.IsSuccess());
      statuses.Set(node->node().metadata.name, status);
    }
    NominatingInfo nominating;
    const Status status = plugin_->PostFilter(state, pod, statuses, nominating);
    const bool overrides = nominating.mode == NominatingInfo::Mode::kOverride;
    return Describe(status) +
           (overrides ? " [" + nominating.node_name + "]" : "");
  }

  // Blocks until no eviction is under way.
  void AwaitEvictions() {
    under_way_.WaitUntil(RealClock(),
                         RealClock().Now() + std::chrono::seconds(20));
  }

  // Returns the names of the pods to retry, "a b", and forgets them.
  std::string TakeRetried() EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return std::exchange(retried_, {});
  }

  FakeClock clock_;
  ScriptedCluster cluster_{clock_};
  Snapshot snapshot_;
  Framework framework_;
  std::stop_source stop_;
  std::mt19937_64 random_{1};
  WaitGroup under_way_;
  Executor executor_{1, clock_};
  WaitingPods waiting_pods_{executor_};
  std::unique_ptr<Client> client_;
  std::unique_ptr<EventRecorder> recorder_;
  std::unique_ptr<SharedInformerFactory> informers_;
  std::unique_ptr<DefaultPreemption> plugin_;

 private:
  void Retry(const Pod& pod) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    retried_ += (retried_.empty() ? "" : " ") + pod.metadata.name;
  }

  Mutex mu_;
  std::string retried_ GUARDED_BY(mu_);
};

}  // namespace minisched
