// Compares the cache with a simple model after many random operations.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cache/cache.h"
#include "tests/random_cluster_testing.h"

namespace minisched {

// Reads the private parts of a cache.
class CachePeer {
 public:
  // Returns the names of the NodeInfos.
  static std::set<std::string> Names(Cache& cache) {
    MutexLock lock(cache.mu_);
    std::set<std::string> names;
    for (const auto& [name, node] : cache.by_name_) names.insert(name);
    EXPECT_EQ(cache.nodes_.size(), names.size());
    return names;
  }
};

namespace {

constexpr int kCacheOperations = 200'000;
constexpr int kOperationsPerCheck = 1'000;
constexpr int kModelNodes = 12;
constexpr int kModelPods = 60;
// How many states of each node and of each pod the test uses.
constexpr int kStates = 10;
constexpr int kPorts = 3;
constexpr const char* kAddresses[] = {"0.0.0.0", "10.0.0.1", "10.0.0.2"};
constexpr std::int64_t kMi = 1024 * 1024;

// A state of a pod, and the numbers from which the test has made the pod.
struct PodFacts {
  std::shared_ptr<const Pod> pod;
  std::int64_t milli_cpu = 0;  // 0: the container has no such request
  std::int64_t memory = 0;     // 0: the same
  std::int64_t gpus = 0;
  std::vector<HostPort> ports;
};

struct NodeFacts {
  std::shared_ptr<const Node> node;
  std::int64_t milli_cpu = 0;
  std::int64_t gpus = 0;
  std::int64_t image_size = 0;  // 0: the node doesn't have the image
};

// Draws the states of nodes and pods.
class Drawer {
 public:
  explicit Drawer(std::uint64_t seed) : random_(seed) {}

  int Below(int end) {
    return std::uniform_int_distribution<int>(0, end - 1)(random_);
  }

  NodeFacts DrawNode(int number) {
    NodeFacts facts{.milli_cpu = 1000 * Below(4),
                    .gpus = Below(3),
                    .image_size = Below(2) * (1 + Below(100))};
    Node node;
    node.metadata.name = NodeName(number);
    node.status.allocatable["cpu"] = Quantity::FromMilli(facts.milli_cpu);
    if (facts.gpus > 0) {
      node.status.allocatable["a.com/gpu"] = Quantity::FromValue(facts.gpus);
    }
    if (facts.image_size > 0) {
      node.status.images = {
          {.names = {"image"}, .size_bytes = facts.image_size}};
    }
    facts.node = std::make_shared<const Node>(std::move(node));
    return facts;
  }

  PodFacts DrawPod(int number) {
    PodFacts facts{
        .milli_cpu = 10 * Below(5), .memory = kMi * Below(3), .gpus = Below(2)};
    Pod pod;
    pod.metadata.namespace_name = "default";
    pod.metadata.name = "pod-" + std::to_string(number);
    pod.metadata.uid = "uid-" + std::to_string(number);
    pod.spec.node_name = NodeName(Below(kModelNodes));
    Container& container = pod.spec.containers.emplace_back();
    ResourceList& requests = container.resources.requests;
    if (facts.milli_cpu > 0) {
      requests["cpu"] = Quantity::FromMilli(facts.milli_cpu);
    }
    if (facts.memory > 0) {
      requests["memory"] = Quantity::FromValue(facts.memory);
    }
    if (facts.gpus > 0) {
      requests["a.com/gpu"] = Quantity::FromValue(facts.gpus);
    }
    for (int i = Below(3); i > 0; --i) {
      const HostPort& port = facts.ports.emplace_back(
          HostPort{kAddresses[Below(3)], "TCP", 1 + Below(kPorts)});
      container.ports.push_back({.host_port = port.port, .host_ip = port.ip});
    }
    facts.pod = std::make_shared<const Pod>(std::move(pod));
    return facts;
  }

 private:
  static std::string NodeName(int number) {
    return fmt::format("node-{:02}", number);
  }

  std::mt19937_64 random_;
};

// Returns the amounts, the images and the conflicts with each port and address.
template <class Conflicts>
std::string DescribeNode(const std::string& name, std::vector<const Pod*> pods,
                         const std::vector<Amount>& amounts,
                         const Conflicts& conflicts) {
  std::sort(pods.begin(), pods.end());
  std::string text = fmt::format("{} {} ports:", name, fmt::join(amounts, " "));
  for (int port = 1; port <= kPorts; ++port) {
    for (const char* ip : {"0.0.0.0", "10.0.0.1", "10.0.0.2", "10.0.0.3"}) {
      text += conflicts(HostPort{ip, "TCP", port}) ? '1' : '0';
    }
  }
  for (const Pod* pod : pods) {
    text += fmt::format(" {}@{}", pod->metadata.name,
                        static_cast<const void*>(pod));
  }
  return text;
}

std::vector<std::string> DescribeSnapshot(const Snapshot& snapshot) {
  std::vector<std::string> nodes;
  for (const NodeInfo* node : snapshot.List()) {
    std::vector<const Pod*> pods;
    for (const PodInfoPtr& pod : node->pods()) pods.push_back(pod->pod.get());
    const auto image = node->image_sizes().find("image");
    nodes.push_back(DescribeNode(
        node->node().metadata.name, std::move(pods),
        {node->allocatable().milli_cpu, node->allocatable().Scalar("a.com/gpu"),
         image == node->image_sizes().end() ? 0 : image->second,
         node->requested().milli_cpu, node->requested().memory,
         node->requested().Scalar("a.com/gpu"),
         node->non_zero_requested().milli_cpu,
         node->non_zero_requested().memory},
        [&](const HostPort& port) {
          return node->used_ports().CheckConflict(port);
        }));
  }
  return nodes;
}

// The nodes and pods as two maps. Everything else is computed from scratch.
class Model {
 public:
  // Returns false if the pod is known.
  bool AssumePod(const PodFacts& pod) {
    return pods_.try_emplace(pod.pod->metadata.uid, &pod, true).second;
  }
  void ForgetPod(const Pod& pod) {
    if (IsAssumedPod(pod)) pods_.erase(pod.metadata.uid);
  }
  bool IsAssumedPod(const Pod& pod) const {
    const auto known = pods_.find(pod.metadata.uid);
    return known != pods_.end() && known->second.second;
  }
  void AddPod(const PodFacts& pod) {
    pods_[pod.pod->metadata.uid] = {&pod, false};
  }
  void RemovePod(const Pod& pod) { pods_.erase(pod.metadata.uid); }
  void AddNode(const NodeFacts& node) {
    nodes_[node.node->metadata.name] = &node;
  }
  void RemoveNode(const Node& node) { nodes_.erase(node.metadata.name); }

  // Returns the nodes that are known or have pods.
  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& [name, node] : nodes_) names.insert(name);
    for (const auto& [uid, state] : pods_) {
      names.insert(state.first->pod->spec.node_name);
    }
    return names;
  }

  std::vector<std::string> Describe() const {
    std::vector<std::string> nodes;
    for (const auto& [name, node] : nodes_) nodes.push_back(Describe(*node));
    return nodes;
  }

 private:
  std::string Describe(const NodeFacts& node) const {
    std::vector<const Pod*> pods;
    std::vector<HostPort> used;
    std::vector<Amount> amounts = {
        node.milli_cpu, node.gpus, node.image_size, 0, 0, 0, 0, 0};
    for (const auto& [uid, state] : pods_) {
      const PodFacts& pod = *state.first;
      if (pod.pod->spec.node_name != node.node->metadata.name) continue;
      pods.push_back(pod.pod.get());
      amounts[3] += pod.milli_cpu;
      amounts[4] += pod.memory;
      amounts[5] += pod.gpus;
      // The defaults of containers without requests: 100m and 200Mi.
      amounts[6] += pod.milli_cpu > 0 ? pod.milli_cpu : 100;
      amounts[7] += pod.memory > 0 ? pod.memory : 200 * kMi;
      used.insert(used.end(), pod.ports.begin(), pod.ports.end());
    }
    return DescribeNode(
        node.node->metadata.name, std::move(pods), amounts,
        [&](const HostPort& port) {
          return std::any_of(used.begin(), used.end(), [&](const auto& other) {
            return other.port == port.port &&
                   (other.ip == port.ip || other.ip == kAddresses[0] ||
                    port.ip == kAddresses[0]);
          });
        });
  }

  std::map<std::string, const NodeFacts*> nodes_;
  // By uid, with whether the pod is assumed.
  std::map<std::string, std::pair<const PodFacts*, bool>> pods_;
};

class CacheModelTest : public ::testing::Test {
 protected:
  CacheModelTest() {
    for (int i = 0; i < kModelNodes * kStates; ++i) {
      nodes_.push_back(draw_.DrawNode(i % kModelNodes));
    }
    for (int i = 0; i < kModelPods * kStates; ++i) {
      pods_.push_back(draw_.DrawPod(i % kModelPods));
      infos_.push_back(NewPodInfo(pods_.back().pod));
    }
  }

  // Runs a random operation.
  void Operate() {
    static constexpr std::pair<int, void (CacheModelTest::*)()> kWeights[] = {
        {25, &CacheModelTest::AssumePod},  {15, &CacheModelTest::ForgetPod},
        {20, &CacheModelTest::AddPod},     {20, &CacheModelTest::RemovePod},
        {10, &CacheModelTest::AddNode},    {5, &CacheModelTest::RemoveNode},
        {5, &CacheModelTest::TakeSnapshot}};
    int roll = draw_.Below(100);
    for (const auto& [weight, operation] : kWeights) {
      if ((roll -= weight) < 0) return (this->*operation)();
    }
  }

  void AssumePod() {
    const int i = draw_.Below(kModelPods * kStates);
    ASSERT_EQ(cache_.AssumePod(infos_[i]).IsSuccess(),
              model_.AssumePod(pods_[i]));
  }

  void ForgetPod() {
    const Pod& pod = *AnyPod().pod;
    ASSERT_EQ(cache_.IsAssumedPod(pod), model_.IsAssumedPod(pod));
    cache_.ForgetPod(pod);
    model_.ForgetPod(pod);
  }

  void AddPod() {
    const PodFacts& pod = AnyPod();
    cache_.AddPod(pod.pod);
    model_.AddPod(pod);
  }

  void RemovePod() {
    const Pod& pod = *AnyPod().pod;
    cache_.RemovePod(pod);
    model_.RemovePod(pod);
  }

  void AddNode() {
    const NodeFacts& node = AnyNode();
    cache_.AddNode(node.node);
    model_.AddNode(node);
  }

  void RemoveNode() {
    const Node& node = *AnyNode().node;
    cache_.RemoveNode(node);
    model_.RemoveNode(node);
  }

  void TakeSnapshot() { cache_.UpdateSnapshot(snapshot_); }

  const PodFacts& AnyPod() { return pods_[draw_.Below(kModelPods * kStates)]; }
  const NodeFacts& AnyNode() {
    return nodes_[draw_.Below(kModelNodes * kStates)];
  }

  const std::uint64_t seed_ = FirstSeed();
  Drawer draw_{seed_};
  std::vector<NodeFacts> nodes_;
  std::vector<PodFacts> pods_;
  std::vector<PodInfoPtr> infos_;  // of pods_
  Cache cache_;
  Model model_;
  Snapshot snapshot_;
};

TEST_F(CacheModelTest, AgreesAfterManyOperations) {
  std::cout << "To repeat: MINISCHED_SEED=" << seed_ << '\n';
  for (int done = 0; done < kCacheOperations;) {
    for (int i = 0; i < kOperationsPerCheck; ++i) {
      Operate();
      ASSERT_FALSE(HasFatalFailure());
    }
    done += kOperationsPerCheck;
    TakeSnapshot();
    ASSERT_EQ(DescribeSnapshot(snapshot_), model_.Describe())
        << "MINISCHED_SEED=" << seed_ << ", after " << done << " operations";
    ASSERT_EQ(CachePeer::Names(cache_), model_.Names());
  }
}

}  // namespace
}  // namespace minisched
