#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "lab/benchmark/allocations.h"
#include "minisched/informer/shared_informer_factory.h"
#include "tests/handle_testing.h"
#include "tests/preemption_testing.h"
#include "tests/snapshot_testing.h"

namespace minisched {

// Returns how many bytes the choice of the victims on one node allocates. Each
// of the nodes has the label "host", with its name, and a copy of `other`. A
// pod is nominated to the node as well, so that the filters get copies of
// copies.
inline std::int64_t BytesOfDryRun(
    int nodes, const Pod& preemptor, const Pod& other,
    SharedInformerFactory& informers = Unused().informers) {
  std::vector<std::shared_ptr<const Node>> all;
  std::vector<std::shared_ptr<const Pod>> pods;
  for (int i = 0; i < nodes; ++i) {
    Node node = NewNodeOf(fmt::format("node-{:05}", i), 100);
    node.metadata.labels = {{"host", node.metadata.name}};
    Pod pod = other;
    pod.metadata.uid = pod.spec.node_name = node.metadata.name;
    all.push_back(std::make_shared<const Node>(std::move(node)));
    pods.push_back(std::make_shared<const Pod>(std::move(pod)));
  }
  const Snapshot snapshot = NewSnapshot(all, pods);
  Framework framework;
  AddDefaultPlugins(framework, NewHandle(snapshot, {.informers = informers}));
  CycleState state;
  PreFilterResult left_over;
  framework.RunPreFilterPlugins(state, preemptor, snapshot.List(), left_over);
  const Pod nominated = NewPodOf("nominated", {.priority = 100});
  const std::vector<PodInfoPtr> infos = {
      NewPodInfo(std::make_shared<const Pod>(nominated))};
  std::int64_t bytes = 0;
  for (int i = 0; i < 2; ++i) {  // the first run also allocates static objects
    const Allocations before = AllocationsOfThisThread();
    const auto candidate = SelectVictimsOnNode(
        framework, state, preemptor, *snapshot.List().front(), {}, infos);
    bytes = AllocationsOfThisThread().bytes - before.bytes;
    EXPECT_TRUE(candidate || candidate.error().IsRejected());
  }
  return bytes;
}

}  // namespace minisched
