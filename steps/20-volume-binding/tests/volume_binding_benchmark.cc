// Measures what the plugins of a scheduling cycle cost for a pod whose two
// claims wait for its node, beside a plain pod. Each benchmark has the number
// of nodes as its argument. Each node has two local disks.
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
#include "tests/handle_testing.h"
#include "tests/informers_testing.h"
#include "tests/snapshot_testing.h"
#include "tests/volume_binder_testing.h"

namespace minisched {
namespace {

constexpr char kHostname[] = "kubernetes.io/hostname";

std::vector<PersistentVolume> DisksOf(const std::vector<Node>& nodes) {
  std::vector<PersistentVolume> disks;
  for (const Node& node : nodes) {
    for (const char* name : {"-a", "-b"}) {
      PersistentVolume disk = Local(node.metadata.name + name, 1, "");
      const std::string& host = node.metadata.labels.at(kHostname);
      disk.spec.node_affinity =
          VolumeOn("", kHostname, {host}).spec.node_affinity;
      disks.push_back(std::move(disk));
    }
  }
  return disks;
}

// The default plugins, and the snapshot of a large cluster.
class VolumeBenchmark {
 public:
  explicit VolumeBenchmark(const LargeCluster& cluster)
      : informers_(DisksOf(cluster.nodes),
                   std::vector{Unbound("a", 1), Unbound("b", 1)},
                   Class("local", "WaitForFirstConsumer")) {
    std::vector<std::shared_ptr<const Node>> nodes;
    for (const Node& node : cluster.nodes) {
      nodes.push_back(std::make_shared<const Node>(node));
    }
    std::vector<std::shared_ptr<const Pod>> pods;
    for (const Pod& pod : cluster.pods) {
      pods.push_back(std::make_shared<const Pod>(pod));
    }
    snapshot_ = NewSnapshot(nodes, pods);
    AddDefaultPlugins(framework_,
                      NewHandle(snapshot_, {.informers = informers_.Get()}));
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
  InformersOf informers_;
  Snapshot snapshot_;
  Framework framework_;
};

// Makes each cluster in the first call, because Google Benchmark calls each
// benchmark several times.
const VolumeBenchmark& VolumeBenchmarkOf(const benchmark::State& state) {
  static auto& all = *new std::map<std::int64_t, VolumeBenchmark*>;
  auto& of_size = all[state.range(0)];
  if (!of_size) {
    const int nodes = static_cast<int>(state.range(0));
    of_size = new VolumeBenchmark(NewLargeCluster(nodes));
  }
  return *of_size;
}

Pod NewPodWithTwoClaims() {
  Pod pod = NewPlainPod();
  pod.metadata.namespace_name = "default";
  pod.spec.volumes = PodWithClaims("", {"a", "b"}).spec.volumes;
  return pod;
}

void VolumeCycle(benchmark::State& state, const Pod& pod) {
  const VolumeBenchmark& of_size = VolumeBenchmarkOf(state);
  std::size_t feasible = 0;
  Measure(state, [&] { feasible = of_size.Cycle(pod); });
  state.counters["feasible"] = static_cast<double>(feasible);
}

constexpr auto kVolumeSizes = [](auto* of) {
  of->Arg(100)->Arg(1000)->Arg(5000)->Unit(benchmark::kMicrosecond);
};

BENCHMARK_CAPTURE(VolumeCycle, plain, NewPlainPod())->Apply(kVolumeSizes);
BENCHMARK_CAPTURE(VolumeCycle, two_claims, NewPodWithTwoClaims())
    ->Apply(kVolumeSizes);

}  // namespace
}  // namespace minisched
