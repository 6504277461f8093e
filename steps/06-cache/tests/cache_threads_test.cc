// Uses the cache from several threads. ThreadSanitizer checks the accesses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <latch>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cache/cache.h"

namespace minisched {
namespace {

using ::testing::SizeIs;

constexpr int kRounds = 1'000;
constexpr int kThreadedNodes = 4;
constexpr int kThreadedPods = 20;

std::shared_ptr<const Node> ThreadedNode(int number) {
  Node node;
  node.metadata.name = "node-" + std::to_string(number);
  return std::make_shared<const Node>(node);
}

// Returns a pod that requests one core and the host port `number`.
std::shared_ptr<const Pod> ThreadedPod(int number, int node) {
  Pod pod;
  pod.metadata.uid = std::to_string(number);
  pod.spec.node_name = "node-" + std::to_string(node);
  Container& container = pod.spec.containers.emplace_back();
  container.resources.requests["cpu"] = Quantity::FromValue(1);
  container.ports = {{.host_port = number}};
  return std::make_shared<const Pod>(pod);
}

// Each NodeInfo of a snapshot counts exactly the pods that it lists.
void ExpectConsistent(const Snapshot& snapshot) {
  for (const NodeInfo* node : snapshot.List()) {
    const auto pods = static_cast<std::int64_t>(node->pods().size());
    EXPECT_EQ(node->requested().milli_cpu, 1000 * pods);
    std::int64_t ports = 0;
    for (int port = 1; port <= kThreadedPods; ++port) {
      if (node->used_ports().CheckConflict({"0.0.0.0", "TCP", port})) ++ports;
    }
    EXPECT_EQ(ports, pods);
  }
}

// The informer of pods confirms, moves and removes pods. At the end each pod is
// on a node.
void ReportPods(Cache& cache) {
  for (int i = 0; i < kRounds * kThreadedPods; ++i) {
    const int pod = i % kThreadedPods + 1;
    cache.AddPod(ThreadedPod(pod, i % kThreadedNodes));
    cache.UpdatePod(ThreadedPod(pod, i / 7 % kThreadedNodes));
    if (i < (kRounds - 1) * kThreadedPods) {
      cache.RemovePod(*ThreadedPod(pod, 0));
    }
  }
}

// The informer of nodes. At the end the cache has all nodes.
void ReportNodes(Cache& cache) {
  for (int i = 0; i < kRounds * kThreadedNodes; ++i) {
    const auto node = ThreadedNode(i % kThreadedNodes);
    if (i % 3 == 0) cache.RemoveNode(*node);
    cache.AddNode(node);
    cache.UpdateNode(node);
  }
}

// The scheduler assumes and forgets pods, and reads snapshots.
void Schedule(Cache& cache, Snapshot& snapshot) {
  for (int i = 0; i < kRounds; ++i) {
    const auto pod = ThreadedPod(i % kThreadedPods + 1, i % kThreadedNodes);
    cache.UpdateSnapshot(snapshot);
    ExpectConsistent(snapshot);
    const bool assumed = cache.AssumePod(NewPodInfo(pod)).IsSuccess();
    if (assumed && !cache.IsAssumedPod(*pod)) continue;  // confirmed or removed
    cache.ForgetPod(*pod);
  }
}

TEST(CacheThreadsTest, SnapshotsAreConsistentWhileInformersReport) {
  Cache cache;
  Snapshot snapshot;
  {
    std::latch start(3);
    const std::jthread pods([&] {
      start.arrive_and_wait();
      ReportPods(cache);
    });
    const std::jthread nodes([&] {
      start.arrive_and_wait();
      ReportNodes(cache);
    });
    start.arrive_and_wait();
    Schedule(cache, snapshot);
  }
  cache.UpdateSnapshot(snapshot);
  ExpectConsistent(snapshot);
  EXPECT_THAT(snapshot.List(), SizeIs(kThreadedNodes));
  std::set<std::string> uids;
  for (const NodeInfo* node : snapshot.List()) {
    for (const PodInfoPtr& pod : node->pods()) {
      EXPECT_TRUE(uids.insert(pod->pod->metadata.uid).second);
      EXPECT_FALSE(cache.IsAssumedPod(*pod->pod));
    }
  }
  EXPECT_THAT(uids, SizeIs(kThreadedPods));
}

}  // namespace
}  // namespace minisched
