// Measures what the plugins of a scheduling cycle cost for a pod with required
// affinity, beside a plain pod. Each benchmark has the number of nodes as its
// argument. There are 30 pods on each node. In the clusters of "beside", one of
// them has required anti-affinity, which does not match the pod.
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
#include "tests/affinity_testing.h"
#include "tests/handle_testing.h"

namespace minisched {
namespace {

// The default plugins, and the snapshot of a large cluster.
class AffinityBenchmark {
 public:
  AffinityBenchmark(int size, bool has_anti_affinity) {
    LargeCluster cluster = NewLargeCluster(size);
    std::vector<std::shared_ptr<const Node>> nodes;
    for (Node& node : cluster.nodes) {
      nodes.push_back(std::make_shared<const Node>(std::move(node)));
    }
    std::vector<std::shared_ptr<const Pod>> pods;
    for (std::size_t i = 0; i < cluster.pods.size(); ++i) {
      // LargeCluster has ten pods on each node.
      for (int copy = 0; copy < 3; ++copy) {
        Pod another = cluster.pods[i];
        another.metadata.uid += std::to_string(copy);
        if (copy > 0) another.spec.containers.clear();
        if (has_anti_affinity && i % 10 == 0 && copy == 0) {
          another.spec.affinity.pod_anti_affinity.required =
              ParseAffinity("kubernetes.io/hostname app=other");
        }
        pods.push_back(std::make_shared<const Pod>(std::move(another)));
      }
    }
    snapshot_ = NewSnapshot(nodes, pods);
    AddDefaultPlugins(framework_,
                      NewHandle(snapshot_, {.informers = TestNamespaces()}));
  }

  // Runs the plugins of a whole cycle. Returns the number of feasible nodes.
  std::size_t Cycle(const Pod& pod) const {
    CycleState state;
    PreFilterResult left_over;
    framework_.RunPreFilterPlugins(state, pod, snapshot_.List(), left_over);
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

 private:
  Snapshot snapshot_;
  Framework framework_;
};

// Makes each cluster in the first call, because Google Benchmark calls each
// benchmark several times.
const AffinityBenchmark& ClusterOf(const benchmark::State& state,
                                   bool has_anti_affinity) {
  static auto& all =
      *new std::map<std::pair<std::int64_t, bool>, AffinityBenchmark*>;
  auto& cluster = all[{state.range(0), has_anti_affinity}];
  if (!cluster) {
    cluster = new AffinityBenchmark(static_cast<int>(state.range(0)),
                                    has_anti_affinity);
  }
  return *cluster;
}

Pod NewAffinePod(const std::string& affinity,
                 const std::string& anti_affinity) {
  Pod pod = NewPlainPod();
  pod.spec.affinity.pod_affinity.required = ParseAffinity(affinity);
  pod.spec.affinity.pod_anti_affinity.required = ParseAffinity(anti_affinity);
  return pod;
}

void AffinityCycle(benchmark::State& state, const Pod& pod,
                   bool has_anti_affinity) {
  const AffinityBenchmark& cluster = ClusterOf(state, has_anti_affinity);
  std::size_t feasible = 0;
  Measure(state, [&] { feasible = cluster.Cycle(pod); });
  state.counters["feasible"] = static_cast<double>(feasible);
}

constexpr auto kAffinitySizes = [](auto* of) {
  of->Arg(100)->Arg(1000)->Arg(5000)->Unit(benchmark::kMicrosecond);
};

BENCHMARK_CAPTURE(AffinityCycle, plain, NewAffinePod("", ""), false)
    ->Apply(kAffinitySizes);
BENCHMARK_CAPTURE(AffinityCycle, beside, NewAffinePod("", ""), true)
    ->Apply(kAffinitySizes);
BENCHMARK_CAPTURE(AffinityCycle, near,
                  NewAffinePod("topology.kubernetes.io/zone app=service-0", ""),
                  false)
    ->Apply(kAffinitySizes);
BENCHMARK_CAPTURE(AffinityCycle, apart,
                  NewAffinePod("", "kubernetes.io/hostname app=service-0"),
                  false)
    ->Apply(kAffinitySizes);

}  // namespace
}  // namespace minisched
