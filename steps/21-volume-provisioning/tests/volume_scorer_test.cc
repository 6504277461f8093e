// Cases from upstream's scorer_test.go and volume_binding_test.go keep their
// names.
#include "plugins/volume_scorer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugins/volume_binding.h"
#include "tests/volume_binder_testing.h"

namespace minisched {
namespace {

// A claim of a class, and the volume or storage that it gets.
struct StorageUsage {
  std::string storage_class;
  int requested;
  std::optional<int> capacity;
};

ClaimPtr ClaimUsing(const StorageUsage& usage) {
  return std::make_shared<const PersistentVolumeClaim>(
      Unbound("c", usage.requested, usage.storage_class));
}

std::int64_t ScoreOfVolumes(const std::vector<StorageUsage>& usages) {
  PodVolumes volumes;
  for (const StorageUsage& usage : usages) {
    PersistentVolume volume = Local("pv", *usage.capacity, "here");
    volume.spec.storage_class_name = usage.storage_class;
    volumes.static_bindings.push_back(
        {ClaimUsing(usage),
         std::make_shared<const PersistentVolume>(std::move(volume))});
  }
  return StorageScore(volumes);
}

std::int64_t ScoreOfNew(const std::vector<StorageUsage>& usages,
                        PodVolumes volumes = {}) {
  for (const StorageUsage& usage : usages) {
    CapacityPtr capacity;
    if (usage.capacity) {
      capacity = std::make_shared<const CSIStorageCapacity>(
          CapacityOf("c", {.capacity = usage.capacity}));
    }
    volumes.dynamic_provisions.push_back({ClaimUsing(usage), capacity});
  }
  return StorageScore(volumes);
}

// ---- TestScore.

TEST(StorageScoreTest, DefaultShapeSingleClass) {
  for (const auto& [requested, score] :
       {std::pair(0, 100), {30, 70}, {50, 50}, {100, 0}}) {
    EXPECT_EQ(ScoreOfVolumes({{"hdd", requested, 100}}), score);
    EXPECT_EQ(ScoreOfNew({{"hdd", requested, 100}}), score);
  }
}

TEST(StorageScoreTest, DefaultShapeMultipleClasses) {
  struct Case {
    int hdd, ssd, score;
  };
  for (const auto& [hdd, ssd, score] : {Case{0, 0, 100},
                                        {0, 30, 85},
                                        {30, 30, 70},
                                        {30, 60, 55},
                                        {50, 50, 50},
                                        {50, 100, 25},
                                        {100, 100, 0}}) {
    EXPECT_EQ(ScoreOfVolumes({{"hdd", hdd, 100}, {"ssd", ssd, 100}}), score);
    EXPECT_EQ(ScoreOfNew({{"hdd", hdd, 100}, {"ssd", ssd, 100}}), score);
  }
}

TEST(StorageScoreTest, WithoutStorageTheScoreIs0) {
  EXPECT_EQ(ScoreOfNew({}), 0);
  EXPECT_EQ(ScoreOfNew({{"hdd", 30, {}}}), 0) << "not published";
  EXPECT_EQ(ScoreOfNew({{"hdd", 30, 0}}), 0);
  EXPECT_EQ(ScoreOfNew({{"hdd", 0, 0}}), 0);
  EXPECT_EQ(ScoreOfNew({{"hdd", 30, 20}}), 0) << "more than there is";
}

// Upstream panics.
TEST(StorageScoreTest, AMaximumIsNoCapacity) {
  PodVolumes volumes;
  volumes.dynamic_provisions.push_back(
      {ClaimUsing({"hdd", 30, {}}), std::make_shared<const CSIStorageCapacity>(
                                        CapacityOf("c", {.maximum = 100}))});
  EXPECT_EQ(StorageScore(volumes), 0);
}

// The percentage is rounded down for each class, the mean to the nearest.
TEST(StorageScoreTest, RoundsLikeUpstream) {
  EXPECT_EQ(ScoreOfNew({{"hdd", 1, 3}}), 67);
  EXPECT_EQ(ScoreOfNew({{"hdd", 1, 100}, {"ssd", 2, 100}}), 99);
  EXPECT_EQ(ScoreOfNew({{"hdd", 1, 100}, {"ssd", 4, 100}, {"nvme", 2, 100}}),
            98);
}

// The volumes of a class add up, but new volumes share the storage.
TEST(StorageScoreTest, DynamicProvisioningWithMultiplePvcsOfTheSameClass) {
  EXPECT_EQ(ScoreOfVolumes({{"hdd", 50, 100}, {"hdd", 50, 100}}), 50);
  EXPECT_EQ(ScoreOfNew({{"hdd", 50, 100}, {"hdd", 50, 100}}), 0);
}

// As upstream: a class in an annotation doesn't count here.
TEST(StorageScoreTest, TheClassIsTheOneInTheSpec) {
  const auto with_annotation = [](auto object) {
    object.metadata.annotations["volume.beta.kubernetes.io/storage-class"] =
        "hdd-" + object.metadata.name;
    return std::make_shared<const decltype(object)>(std::move(object));
  };
  PodVolumes volumes;
  for (const auto& [name, size] : {std::pair("a", 100), {"b", 300}}) {
    volumes.static_bindings.push_back(
        {with_annotation(Unbound(name, 100)),
         with_annotation(Local(name, size, "here"))});
  }
  EXPECT_EQ(StorageScore(volumes), 50) << "one class: 200 of 400";
  PodVolumes made;
  for (const BindingInfo& binding : volumes.static_bindings) {
    made.dynamic_provisions.push_back(
        {binding.claim, std::make_shared<const CSIStorageCapacity>(
                            CapacityOf("c", {.capacity = 250}))});
  }
  EXPECT_EQ(StorageScore(made), 20) << "one class: 200 of 250";
}

TEST(StorageScoreTest, StorageCapacityScoreWithStaticBinds) {
  PodVolumes volumes;
  volumes.static_bindings.push_back(
      {ClaimUsing({"hdd", 50, {}}),
       std::make_shared<const PersistentVolume>(Local("pv", 100, "here"))});
  EXPECT_EQ(ScoreOfNew({{"ssd", 10, 100}}, volumes), 50);
}

// More than 2^63 / 100 bytes.
TEST(StorageScoreTest, LargeCapacitiesDoNotOverflow) {
  PodVolumes volumes;
  PersistentVolumeClaim claim = Unbound("c", 0, "made");
  claim.spec.resources.requests["storage"] = Quantity::Parse("2Ei");
  CSIStorageCapacity capacity = CapacityOf("c", {});
  capacity.capacity = Quantity::Parse("4Ei");
  volumes.dynamic_provisions.push_back(
      {std::make_shared<const PersistentVolumeClaim>(claim),
       std::make_shared<const CSIStorageCapacity>(capacity)});
  EXPECT_EQ(StorageScore(volumes), 50);
}

// ---- TestVolumeBinding.

// Returns the scores of the pod on nodes with these labels "host", or none if
// the plugin skips the pod. -1: Filter rejects the node.
std::vector<std::int64_t> ScoresOfNodes(const VolumeObjects& objects,
                                        const std::vector<std::string>& claims,
                                        const std::vector<std::string>& hosts) {
  const VolumeCluster cluster(objects);
  const VolumeBinding plugin(cluster.handle());
  const Pod pod = PodWithClaims("p", claims);
  CycleState state;
  PreFilterResult left_over;
  EXPECT_FALSE(plugin.PreFilter(state, pod, {}, left_over).IsRejected());
  std::vector<std::int64_t> scores;
  std::vector<NodeInfo> nodes;
  for (const std::string& host : hosts) {
    Node node = NodeWithLabels({{"host", host}});
    node.metadata.name = host;
    nodes.push_back(NodeWithPods(std::move(node), {}));
    scores.push_back(plugin.Filter(state, pod, nodes.back()).IsSuccess() ? 0
                                                                         : -1);
  }
  if (!plugin.PreScore(state, pod, {}).IsSuccess()) return {};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (scores[i] < 0) continue;
    EXPECT_TRUE(plugin.Score(state, pod, nodes[i], scores[i]).IsSuccess());
  }
  return scores;
}

using NodeScores = std::vector<std::int64_t>;

TEST(VolumeBindingScoreTest, LocalVolumesWithCloseCapacity) {
  EXPECT_EQ(ScoresOfNodes({.claims = {Unbound("a", 50)},
                           .volumes = {Local("pv-a-0", 200, "node-a"),
                                       Local("pv-a-1", 200, "node-a"),
                                       Local("pv-b-0", 100, "node-b"),
                                       Local("pv-b-1", 100, "node-b")},
                           .classes = {Class("local", "WaitForFirstConsumer")}},
                          {"a"}, {"node-a", "node-b", "node-c"}),
            (NodeScores{75, 50, -1}));
}

TEST(VolumeBindingScoreTest, StorageCapacityScore) {
  const auto on = [](const std::string& host, int capacity) {
    return CapacityOf(host, {.host = host, .capacity = capacity});
  };
  EXPECT_EQ(ScoresOfNodes({.claims = {Unbound("a", 10, "made")},
                           .classes = {MadeClass()},
                           .drivers = {DriverOf(true)},
                           .capacities = {on("node-a", 100), on("node-b", 50),
                                          on("node-c", 10), on("node-d", 9)}},
                          {"a"}, {"node-a", "node-b", "node-c", "node-d"}),
            (NodeScores{90, 80, 0, -1}));
}

TEST(VolumeBindingScoreTest, LocalVolumesMultiplePvcs) {
  const auto disk = [](const std::string& its_class, int size,
                       const std::string& host) {
    PersistentVolume volume = Local(its_class + host, size, host);
    volume.spec.storage_class_name = its_class;
    return volume;
  };
  EXPECT_EQ(
      ScoresOfNodes(
          {.claims = {Unbound("a", 50, "ssd"), Unbound("b", 100, "hdd")},
           .volumes = {disk("ssd", 200, "node-a"), disk("hdd", 200, "node-a"),
                       disk("ssd", 100, "node-b"), disk("hdd", 100, "node-b"),
                       disk("ssd", 100, "node-c")},
           .classes = {Class("ssd", "WaitForFirstConsumer"),
                       Class("hdd", "WaitForFirstConsumer")}},
          {"a", "b"}, {"node-a", "node-b", "node-c"}),
      (NodeScores{63, 25, -1}));
}

TEST(VolumeBindingScoreTest, SkipsPodsForWhichNothingIsChosen) {
  const VolumeObjects objects = {.claims = {Claim("bound", {.volume = "pv"})},
                                 .volumes = {VolumeOf("pv")}};
  EXPECT_EQ(ScoresOfNodes(objects, {"bound"}, {"node-a"}), NodeScores());
  const VolumeCluster cluster({});
  CycleState state;
  EXPECT_EQ(VolumeBinding(cluster.handle()).PreScore(state, Pod(), {}).code(),
            Code::kSkip)
      << "without state";
}

}  // namespace
}  // namespace minisched
