// Measures the choice of the victims on all nodes for a pod with required
// anti-affinity or a spread constraint by hostname, beside a pod without rules.
// Each benchmark has the number of nodes as its argument. On each node, there
// are a replica with a required anti-affinity to other replicas, and ten other
// pods.
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
#include "tests/affinity_testing.h"
#include "tests/handle_testing.h"

namespace minisched {
namespace {

// Returns a pod that must not be on a node with another replica.
Pod NewReplicaOf(int priority) {
  Pod pod = NewPlainPod();
  pod.metadata.labels = {{"app", "replica"}};
  pod.spec.priority = priority;
  pod.spec.affinity.pod_anti_affinity.required =
      ParseAffinity("kubernetes.io/hostname app=replica");
  return pod;
}

// Returns a pod that requests this number of the sixteen cores of a node.
Pod NewPodWithoutRules(int cpu) {
  Pod pod = NewPlainPod();
  pod.spec.priority = 2;
  pod.spec.containers[0].resources.requests["cpu"] = Quantity::FromValue(cpu);
  return pod;
}

// Returns a pod that must not be on a node with more than ten others.
Pod NewSpreadPodOf(int priority) {
  Pod pod = NewPlainPod();
  pod.spec.priority = priority;
  pod.spec.topology_spread_constraints =
      ParseConstraints("11 kubernetes.io/hostname app min=1000000");
  return pod;
}

class DryRunCluster {
 public:
  explicit DryRunCluster(int size) {
    LargeCluster cluster = NewLargeCluster(size);
    for (Node& node : cluster.nodes) {
      Pod replica = NewReplicaOf(1);
      replica.spec.node_name = replica.metadata.uid = node.metadata.name;
      cluster.pods.push_back(std::move(replica));
      nodes_.push_back(std::make_shared<const Node>(std::move(node)));
    }
    std::vector<std::shared_ptr<const Pod>> pods;
    for (Pod& pod : cluster.pods) {
      pods.push_back(std::make_shared<const Pod>(std::move(pod)));
    }
    snapshot_ = NewSnapshot(nodes_, pods);
    AddDefaultPlugins(framework_,
                      NewHandle(snapshot_, {.informers = TestNamespaces()}));
  }

  void PreFilter(const Pod& pod, CycleState& state) const {
    PreFilterResult left_over;
    framework_.RunPreFilterPlugins(state, pod, snapshot_.List(), left_over);
  }

  // Returns how many nodes have victims.
  std::size_t DryRun(const Pod& pod, const CycleState& state) const {
    std::size_t candidates = 0;
    for (const NodeInfo* node : snapshot_.List()) {
      if (SelectVictimsOnNode(framework_, state, pod, *node, {})) ++candidates;
    }
    return candidates;
  }

 private:
  std::vector<std::shared_ptr<const Node>> nodes_;
  Snapshot snapshot_;
  Framework framework_;
};

const DryRunCluster& DryRunClusterOf(const benchmark::State& state) {
  static auto& all = *new std::map<std::int64_t, DryRunCluster*>;
  auto& cluster = all[state.range(0)];
  if (!cluster) cluster = new DryRunCluster(static_cast<int>(state.range(0)));
  return *cluster;
}

void DryRunOnAllNodes(benchmark::State& state, const Pod& pod) {
  const DryRunCluster& cluster = DryRunClusterOf(state);
  CycleState cycle_state;
  cluster.PreFilter(pod, cycle_state);
  std::size_t candidates = 0;
  Measure(state, [&] { candidates = cluster.DryRun(pod, cycle_state); });
  state.counters["candidates"] = static_cast<double>(candidates);
}

constexpr auto kDryRunSizes = [](auto* of) {
  of->Arg(100)->Arg(1000)->Arg(5000)->Unit(benchmark::kMicrosecond);
};

// Each node has victims. The other pods are put back one by one.
BENCHMARK_CAPTURE(DryRunOnAllNodes, plain, NewPodWithoutRules(12))
    ->Apply(kDryRunSizes);
BENCHMARK_CAPTURE(DryRunOnAllNodes, apart, NewReplicaOf(2))
    ->Apply(kDryRunSizes);
BENCHMARK_CAPTURE(DryRunOnAllNodes, spread, NewSpreadPodOf(2))
    ->Apply(kDryRunSizes);
// The pod fits no node even without all pods of lower priority.
BENCHMARK_CAPTURE(DryRunOnAllNodes, plain_no_victims, NewPodWithoutRules(17))
    ->Apply(kDryRunSizes);
BENCHMARK_CAPTURE(DryRunOnAllNodes, apart_no_victims, NewReplicaOf(1))
    ->Apply(kDryRunSizes);

}  // namespace
}  // namespace minisched
