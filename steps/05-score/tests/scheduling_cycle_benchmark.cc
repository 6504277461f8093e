// Measures a scheduling cycle without I/O, and the snapshot alone. Each
// benchmark has the number of nodes as its argument.
//
// The scheduler has read a cluster as it does at its start. Its informers are
// stopped, so no other thread changes the cluster.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "lab/benchmark/large_cluster.h"
#include "lab/benchmark/measure.h"
#include "minisched/base/fake_clock.h"
#include "minisched/client/client.h"
#include "minisched/trace/trace.h"
#include "scheduler.h"
#include "testing/scripted_cluster.h"
#include "tests/scheduler_testing.h"

namespace minisched {
namespace {

// A scheduler that has read a large cluster.
class LoadedScheduler {
 public:
  explicit LoadedScheduler(int nodes) {
    LargeCluster cluster = NewLargeCluster(nodes);
    for (const Node& node : cluster.nodes) api_.Add(node);
    for (const Pod& pod : cluster.pods) api_.Add(pod);
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

// Returns the scheduler with this number of nodes. Makes it in the first call,
// because Google Benchmark calls each benchmark several times.
Scheduler& SchedulerOf(const benchmark::State& state) {
  // Never destroyed: its libraries may be gone when the program exits.
  static auto& schedulers =
      *new std::map<int, std::unique_ptr<LoadedScheduler>>;
  const int nodes = static_cast<int>(state.range(0));
  auto& loaded = schedulers[nodes];
  if (!loaded) loaded = std::make_unique<LoadedScheduler>(nodes);
  return loaded->scheduler();
}

// Includes that the pod is assumed, in the steps that assume pods. The pod is
// forgotten at the end, so that the cluster stays the same.
void Cycle(benchmark::State& state, const Pod& pod) {
  Scheduler& scheduler = SchedulerOf(state);
  Measure(state, [&] {
    const std::string host = SchedulerPeer::Schedule(scheduler, pod);
    SchedulerPeer::Assume(scheduler, pod, host);
    SchedulerPeer::Forget(scheduler, pod);
  });
}

// Includes the change: a pod is assumed and forgotten.
void SnapshotAfterOneChange(benchmark::State& state) {
  Scheduler& scheduler = SchedulerOf(state);
  const Pod pod = NewPlainPod();
  const std::string host = SchedulerPeer::Schedule(scheduler, pod);
  Snapshot snapshot;
  Measure(state, [&] {
    SchedulerPeer::Assume(scheduler, pod, host);
    SchedulerPeer::UpdateSnapshot(scheduler, snapshot);
    SchedulerPeer::Forget(scheduler, pod);
  });
}

void NewSnapshot(benchmark::State& state) {
  Scheduler& scheduler = SchedulerOf(state);
  Measure(state, [&] {
    Snapshot snapshot;
    SchedulerPeer::UpdateSnapshot(scheduler, snapshot);
  });
}

constexpr auto kSizes = [](auto* of) {
  of->Arg(100)->Arg(1000)->Arg(5000)->Arg(15000)->Unit(benchmark::kMicrosecond);
};

BENCHMARK_CAPTURE(Cycle, plain, NewPlainPod())->Apply(kSizes);
BENCHMARK_CAPTURE(Cycle, demanding, NewDemandingPod())->Apply(kSizes);
BENCHMARK(SnapshotAfterOneChange)->Apply(kSizes);
BENCHMARK(NewSnapshot)->Apply(kSizes);

}  // namespace
}  // namespace minisched

BENCHMARK_MAIN();
