// Measures what the plugins of a scheduling cycle cost for a pod with topology
// spread constraints, beside a plain pod. Each benchmark has the number of
// nodes as its argument. There are 30 pods on each node.
#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/framework.h"
#include "lab/benchmark/large_cluster.h"
#include "lab/benchmark/measure.h"
#include "plugins/registry.h"
#include "preemption/victims.h"
#include "tests/handle_testing.h"
#include "tests/snapshot_testing.h"
#include "tests/spread_testing.h"

namespace minisched {
namespace {

constexpr int kPodsPerNode = 30;

// The default plugins, and the snapshot of a large cluster.
class SpreadBenchmark {
 public:
  explicit SpreadBenchmark(int size) {
    LargeCluster cluster = NewLargeCluster(size);
    std::vector<std::shared_ptr<const Node>> nodes;
    for (Node& node : cluster.nodes) {
      nodes.push_back(std::make_shared<const Node>(std::move(node)));
    }
    std::vector<std::shared_ptr<const Pod>> pods;
    for (const Pod& pod : cluster.pods) {
      // LargeCluster has ten pods on each node.
      for (int copy = 0; copy < kPodsPerNode / 10; ++copy) {
        Pod another = pod;
        another.metadata.uid += std::to_string(copy);
        if (copy > 0) another.spec.containers.clear();
        pods.push_back(std::make_shared<const Pod>(std::move(another)));
      }
    }
    snapshot_ = NewSnapshot(nodes, pods);
    AddDefaultPlugins(framework_, NewHandle(snapshot_));
  }

  void PreFilter(const Pod& pod, CycleState& state) const {
    PreFilterResult left_over;
    framework_.RunPreFilterPlugins(state, pod, snapshot_.List(), left_over);
  }

  // Runs the plugins of a whole cycle. Returns the number of feasible nodes.
  std::size_t Cycle(const Pod& pod) const {
    CycleState state;
    PreFilter(pod, state);
    Nodes feasible;
    for (const NodeInfo* node : snapshot_.List()) {
      if (framework_.RunFilterPlugins(state, pod, *node).IsSuccess()) {
        feasible.push_back(node);
      }
    }
    framework_.RunPreScorePlugins(state, pod, feasible);
    benchmark::DoNotOptimize(framework_.RunScorePlugins(state, pod, feasible));
    return feasible.size();
  }

  // Chooses the victims on one node.
  void DryRun(const Pod& pod, const CycleState& state) const {
    benchmark::DoNotOptimize(SelectVictimsOnNode(
        framework_, state, pod, *snapshot_.List().front(), {}));
  }

 private:
  Snapshot snapshot_;
  Framework framework_;
};

// Makes each cluster in the first call, because Google Benchmark calls each
// benchmark several times.
const SpreadBenchmark& BenchmarkOf(const benchmark::State& state) {
  static auto& all = *new std::map<std::int64_t, SpreadBenchmark*>;
  auto& of_size = all[state.range(0)];
  if (!of_size) of_size = new SpreadBenchmark(static_cast<int>(state.range(0)));
  return *of_size;
}

// Returns a pod of service-0, which has three pods for each four nodes.
Pod NewSpreadPod(const std::string& constraints) {
  Pod pod = NewPlainPod();
  pod.spec.priority = 1;
  pod.spec.topology_spread_constraints = ParseConstraints(constraints);
  return pod;
}

void SpreadCycle(benchmark::State& state, const Pod& pod) {
  const SpreadBenchmark& of_size = BenchmarkOf(state);
  std::size_t feasible = 0;
  Measure(state, [&] { feasible = of_size.Cycle(pod); });
  state.counters["feasible"] = static_cast<double>(feasible);
}

void SpreadDryRun(benchmark::State& state, const Pod& pod) {
  const SpreadBenchmark& of_size = BenchmarkOf(state);
  CycleState cycle_state;
  of_size.PreFilter(pod, cycle_state);
  Measure(state, [&] { of_size.DryRun(pod, cycle_state); });
}

constexpr auto kSpreadSizes = [](auto* of) {
  of->Arg(100)->Arg(1000)->Arg(5000)->Unit(benchmark::kMicrosecond);
};

constexpr char kSpreadZones[] =
    "1000 topology.kubernetes.io/zone app=service-0";
constexpr char kSpreadHosts[] = "1000 kubernetes.io/hostname app=service-0";

BENCHMARK_CAPTURE(SpreadCycle, plain, NewSpreadPod(""))->Apply(kSpreadSizes);
BENCHMARK_CAPTURE(SpreadCycle, zones, NewSpreadPod(kSpreadZones))
    ->Apply(kSpreadSizes);
BENCHMARK_CAPTURE(SpreadCycle, hosts, NewSpreadPod(kSpreadHosts))
    ->Apply(kSpreadSizes);
BENCHMARK_CAPTURE(SpreadDryRun, plain, NewSpreadPod(""))->Apply(kSpreadSizes);
BENCHMARK_CAPTURE(SpreadDryRun, zones, NewSpreadPod(kSpreadZones))
    ->Apply(kSpreadSizes);
BENCHMARK_CAPTURE(SpreadDryRun, hosts, NewSpreadPod(kSpreadHosts))
    ->Apply(kSpreadSizes);

}  // namespace
}  // namespace minisched
