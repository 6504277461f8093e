// Measures preemption without I/O: an attempt that fails and can't preempt any
// pod, and the choice of the victims. Each benchmark has the number of nodes as
// its argument. The attempts are those of a scheduler that has read a cluster.

#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lab/benchmark/large_cluster.h"
#include "minisched/base/fake_clock.h"
#include "minisched/client/client.h"
#include "minisched/trace/trace.h"
#include "plugins/registry.h"
#include "preemption/victims.h"
#include "scheduler.h"
#include "testing/scripted_cluster.h"
#include "tests/handle_testing.h"
#include "tests/preemption_testing.h"
#include "tests/scheduler_testing.h"
#include "tests/snapshot_testing.h"

namespace minisched {
namespace {

// Returns a pod that fits no node of a large cluster: it requests three
// quarters of a node, and half of each node is in use.
Pod NewLargePod(int priority) {
  Pod pod = NewPlainPod();
  pod.metadata.name = "large";
  pod.spec.priority = priority;
  pod.spec.containers.front().resources.requests["cpu"] =
      Quantity::FromValue(12);
  return pod;
}

// A large cluster with the pod `large` and with disruption budgets, and a
// scheduler that has read it.
class FullCluster {
 public:
  FullCluster(int nodes, const Pod& large, int budgets) {
    LargeCluster cluster = NewLargeCluster(nodes);
    for (const Node& node : cluster.nodes) api_.Add(node);
    for (const Pod& pod : cluster.pods) api_.Add(pod);
    api_.Add(large);
    for (int i = 0; i < budgets; ++i) {
      api_.Add(*NewBudget("service-" + std::to_string(i), 1));
    }
    SchedulerPeer::ReadCluster(scheduler_);
  }

  Scheduler& scheduler() { return scheduler_; }

 private:
  FakeClock clock_;
  ScriptedCluster api_{clock_};
  Client client_{api_.config()};
  Trace trace_{"minisched", clock_};
  Scheduler scheduler_{{client_, "minisched", trace_, {}}, {.seed = 1}, clock_};
};

// Returns the scheduler with this number of nodes and, if it has budgets, as
// many budgets. Makes it in the first call, because Google Benchmark calls each
// benchmark several times.
Scheduler& SchedulerOfFullCluster(const benchmark::State& state,
                                  bool has_budgets = false) {
  // Never destroyed: its libraries may be gone when the program exits.
  static auto& clusters =
      *new std::map<std::pair<int, bool>, std::unique_ptr<FullCluster>>;
  const int nodes = static_cast<int>(state.range(0));
  auto& cluster = clusters[{nodes, has_budgets}];
  if (!cluster) {
    cluster = std::make_unique<FullCluster>(nodes, NewLargePod(0),
                                            has_budgets ? nodes : 0);
  }
  return cluster->scheduler();
}

// All pods have the same priority.
void FailedAttempt(benchmark::State& state, bool has_budgets) {
  const Pod pod = NewLargePod(0);
  Scheduler& scheduler = SchedulerOfFullCluster(state, has_budgets);
  for (auto _ : state) {
    benchmark::DoNotOptimize(SchedulerPeer::FailureFor(scheduler, pod));
  }
}

void FailedAttemptWithoutPostFilter(benchmark::State& state) {
  const Pod pod = NewLargePod(0);
  Scheduler& scheduler = SchedulerOfFullCluster(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        SchedulerPeer::FailureWithoutPostFilter(scheduler, pod));
  }
}

// Chooses the victims on each node that isn't cordoned or tainted, and the best
// node. Each node has victims.
void DryRun(benchmark::State& state) {
  const LargeCluster cluster =
      NewLargeCluster(static_cast<int>(state.range(0)));
  std::vector<std::shared_ptr<const Node>> nodes;
  std::vector<std::shared_ptr<const Pod>> pods;
  for (const Node& node : cluster.nodes) {
    nodes.push_back(std::make_shared<const Node>(node));
  }
  for (const Pod& pod : cluster.pods) {
    pods.push_back(std::make_shared<const Pod>(pod));
  }
  const Snapshot snapshot = NewSnapshot(nodes, pods);
  Framework framework;
  AddDefaultPlugins(framework, NewHandle(snapshot));
  const Pod pod = NewLargePod(1);
  CycleState cycle;
  PreFilterResult left_over;
  framework.RunPreFilterPlugins(cycle, pod, snapshot.List(), left_over);
  std::size_t candidates = 0;
  for (auto _ : state) {
    std::vector<Candidate> found;
    for (const NodeInfo* node : snapshot.List()) {
      auto candidate = SelectVictimsOnNode(framework, cycle, pod, *node, {});
      if (candidate) found.push_back(*std::move(candidate));
    }
    candidates = found.size();
    benchmark::DoNotOptimize(SelectCandidate(found));
  }
  state.counters["candidates"] = static_cast<double>(candidates);
}

constexpr auto kPreemptionSizes = [](auto* of) {
  of->Arg(100)->Arg(1000)->Arg(5000)->Unit(benchmark::kMicrosecond);
};

BENCHMARK(FailedAttemptWithoutPostFilter)->Apply(kPreemptionSizes);
BENCHMARK_CAPTURE(FailedAttempt, plain, false)->Apply(kPreemptionSizes);
BENCHMARK_CAPTURE(FailedAttempt, budgets, true)->Apply(kPreemptionSizes);
BENCHMARK(DryRun)->Apply(kPreemptionSizes);

}  // namespace
}  // namespace minisched
