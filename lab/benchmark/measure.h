#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>

#include "lab/benchmark/allocations.h"

namespace minisched {

// Measures the time of `run` and what it allocates: the counters `allocs` and
// `bytes`.
template <class Run>
void Measure(benchmark::State& state, Run run) {
  run();  // fills what later runs reuse
  const Allocations before = AllocationsOfThisThread();
  for (auto _ : state) run();
  const Allocations after = AllocationsOfThisThread();
  const auto per_run = [](std::int64_t total) {
    return benchmark::Counter(static_cast<double>(total),
                              benchmark::Counter::kAvgIterations);
  };
  state.counters["allocs"] = per_run(after.count - before.count);
  state.counters["bytes"] = per_run(after.bytes - before.bytes);
}

}  // namespace minisched
