#include "cache/cache.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::shared_ptr<const Node> CachedNode(const std::string& name, int cpu) {
  Node node;
  node.metadata.name = name;
  node.status.allocatable["cpu"] = Quantity::FromValue(cpu);
  return std::make_shared<const Node>(node);
}

// Returns a pod whose uid is its name.
std::shared_ptr<const Pod> CachedPod(const std::string& name,
                                     const std::string& node, int cpu = 1) {
  Pod pod;
  pod.metadata.namespace_name = "default";
  pod.metadata.name = name;
  pod.metadata.uid = name;
  pod.spec.node_name = node;
  Container& container = pod.spec.containers.emplace_back();
  container.resources.requests["cpu"] = Quantity::FromValue(cpu);
  return std::make_shared<const Pod>(pod);
}

// Returns the nodes with their requested and allocatable cpu and their pods:
// "node-1 3/4: a b".
std::vector<std::string> CacheContents(const Snapshot& snapshot) {
  std::vector<std::string> nodes;
  for (const NodeInfo* node : snapshot.List()) {
    std::string& text =
        nodes.emplace_back(fmt::format("{} {}/{}:", node->node().metadata.name,
                                       node->requested().milli_cpu / 1000,
                                       node->allocatable().milli_cpu / 1000));
    for (const PodInfoPtr& pod : node->pods()) {
      text += " " + pod->pod->metadata.name;
    }
  }
  return nodes;
}

std::vector<std::string> CacheContents(Cache& cache) {
  Snapshot snapshot;
  cache.UpdateSnapshot(snapshot);
  return CacheContents(snapshot);
}

// Runs an operation: its name, the object's name, the node's name if the object
// is a pod, and the cpu (1 if absent). "AddPod a node-1 2" adds the pod a,
// which requests 2 cores, on node-1.
void RunOperation(Cache& cache, const std::string& operation) {
  std::istringstream words(operation);
  std::string verb, name, node;
  words >> verb >> name;
  if (verb.ends_with("Pod")) words >> node;
  int cpu = 1;
  if (int given = 0; words >> given) cpu = given;
  const std::map<std::string, std::function<void()>> operations = {
      {"AddNode", [&] { cache.AddNode(CachedNode(name, cpu)); }},
      {"UpdateNode", [&] { cache.UpdateNode(CachedNode(name, cpu)); }},
      {"RemoveNode", [&] { cache.RemoveNode(*CachedNode(name, cpu)); }},
      {"AddPod", [&] { cache.AddPod(CachedPod(name, node, cpu)); }},
      {"UpdatePod", [&] { cache.UpdatePod(CachedPod(name, node, cpu)); }},
      {"RemovePod", [&] { cache.RemovePod(*CachedPod(name, node, cpu)); }},
      {"AssumePod",
       [&] {
         const auto pod = NewPodInfo(CachedPod(name, node, cpu));
         EXPECT_TRUE(cache.AssumePod(pod).IsSuccess()) << operation;
       }},
      {"ForgetPod", [&] { cache.ForgetPod(*CachedPod(name, node, cpu)); }}};
  operations.at(verb)();
}

struct CacheCase {
  const char* name;
  std::vector<std::string> operations;
  std::vector<std::string> nodes;         // see CacheContents()
  std::vector<std::string> assumed = {};  // of the pods a and b
};

std::ostream& operator<<(std::ostream& out, const CacheCase& test) {
  return out << test.name;
}

class CacheCaseTest : public ::testing::TestWithParam<CacheCase> {};

TEST_P(CacheCaseTest, HasTheNodesAndPods) {
  Cache cache;
  Snapshot kept;  // updated after each operation
  for (const std::string& operation : GetParam().operations) {
    RunOperation(cache, operation);
    cache.UpdateSnapshot(kept);
    EXPECT_EQ(CacheContents(kept), CacheContents(cache)) << operation;
  }
  EXPECT_EQ(CacheContents(cache), GetParam().nodes);
  std::vector<std::string> assumed;
  for (const char* name : {"a", "b"}) {
    if (cache.IsAssumedPod(*CachedPod(name, ""))) assumed.emplace_back(name);
  }
  EXPECT_EQ(assumed, GetParam().assumed);
}

// A snapshot that has missed several operations gets all of them at once.
TEST_P(CacheCaseTest, ALateSnapshotHasTheSame) {
  const auto& operations = GetParam().operations;
  for (std::size_t missed = 0; missed <= operations.size(); ++missed) {
    Cache cache;
    Snapshot snapshot;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      if (i == missed) cache.UpdateSnapshot(snapshot);
      RunOperation(cache, operations[i]);
    }
    cache.UpdateSnapshot(snapshot);
    EXPECT_EQ(CacheContents(snapshot), GetParam().nodes)
        << "updated after " << missed << " operations and at the end";
  }
}

// Pods. The comments name the tests of upstream's cache_test.go.
const CacheCase kPodCases[] = {
    // TestAssumePodScheduled
    {"AnAssumedPodCounts",
     {"AddNode node-1 4", "AssumePod a node-1 2"},
     {"node-1 2/4: a"},
     {"a"}},
    {"AssumedPodsAddUp",
     {"AddNode node-1 4", "AssumePod a node-1 2", "AssumePod b node-1"},
     {"node-1 3/4: a b"},
     {"a", "b"}},
    // TestAddPodWillConfirm
    {"AddPodConfirms",
     {"AddNode node-1 4", "AssumePod a node-1", "AssumePod b node-1",
      "AddPod a node-1"},
     {"node-1 2/4: b a"},
     {"b"}},
    // TestAddPodAlwaysUpdatesPodInfoInNodeInfo
    {"AddPodReplacesTheAssumedState",
     {"AddNode node-1 4", "AssumePod a node-1", "AddPod a node-1 3"},
     {"node-1 3/4: a"}},
    // TestAddPodWillReplaceAssumed
    {"AddPodMovesAPodThatWasAssumedOnAnotherNode",
     {"AddNode node-1 4", "AddNode node-2 4", "AssumePod a node-1 2",
      "AddPod a node-2 2"},
     {"node-1 0/4:", "node-2 2/4: a"}},
    {"AddPodMovesAPodThatWasAssumedOnAnUnknownNode",
     {"AssumePod a node-1 2", "AddNode node-2 4", "AddPod a node-2 2"},
     {"node-2 2/4: a"}},
    {"AddPodTwiceCountsOnce",
     {"AddNode node-1 4", "AddPod a node-1", "AddPod a node-1"},
     {"node-1 1/4: a"}},
    // TestUpdatePod
    {"UpdatePodReplacesTheRequests",
     {"AddNode node-1 4", "AddPod a node-1 3", "AddPod b node-1",
      "UpdatePod a node-1"},
     {"node-1 2/4: b a"}},
    {"UpdatePodOfAnUnknownPodAddsThePod",
     {"AddNode node-1 4", "UpdatePod a node-1"},
     {"node-1 1/4: a"}},
    {"UpdatePodConfirms",
     {"AddNode node-1 4", "AssumePod a node-1", "UpdatePod a node-1 2"},
     {"node-1 2/4: a"}},
    // TestRemovePod
    {"RemovePodRemoves",
     {"AddNode node-1 4", "AddPod a node-1 2", "AddPod b node-1",
      "RemovePod a node-1 2"},
     {"node-1 1/4: b"}},
    {"RemovePodRemovesAnAssumedPod",
     {"AddNode node-1 4", "AssumePod a node-1", "RemovePod a node-1"},
     {"node-1 0/4:"}},
    // The informer missed the Binding.
    {"RemovePodWithoutANodeRemovesAnAssumedPod",
     {"AddNode node-1 4", "AssumePod a node-1 2", "RemovePod a"},
     {"node-1 0/4:"}},
    {"RemovePodWithoutANodeRemovesAnAddedPod",
     {"AddNode node-1 4", "AddPod a node-1 2", "RemovePod a"},
     {"node-1 0/4:"}},
    {"RemovePodIgnoresAnUnknownPod",
     {"AddNode node-1 4", "AddPod a node-1", "RemovePod b node-1"},
     {"node-1 1/4: a"}},
    {"ARemovedPodCanBeAssumed",
     {"AddNode node-1 4", "AddPod a node-1", "RemovePod a node-1",
      "AssumePod a node-1"},
     {"node-1 1/4: a"},
     {"a"}},
    // TestForgetPod
    {"ForgetPodGivesTheRoomBack",
     {"AddNode node-1 4", "AssumePod a node-1 2", "AssumePod b node-1",
      "ForgetPod a node-1"},
     {"node-1 1/4: b"},
     {"b"}},
    {"ForgetPodNeedsNoNodeName",
     {"AddNode node-1 4", "AssumePod a node-1 2", "ForgetPod a"},
     {"node-1 0/4:"}},
    {"AForgottenPodCanBeAssumedAgain",
     {"AddNode node-1 4", "AddNode node-2 4", "AssumePod a node-1",
      "ForgetPod a", "AssumePod a node-2"},
     {"node-1 0/4:", "node-2 1/4: a"},
     {"a"}},
    {"ForgetPodIgnoresAConfirmedPod",
     {"AddNode node-1 4", "AssumePod a node-1", "AddPod a node-1",
      "ForgetPod a node-1"},
     {"node-1 1/4: a"}},
    {"ForgetPodIgnoresAnUnknownPod",
     {"AddNode node-1 4", "ForgetPod a node-1"},
     {"node-1 0/4:"}}};
INSTANTIATE_TEST_SUITE_P(Pods, CacheCaseTest, ::testing::ValuesIn(kPodCases),
                         [](const auto& test) { return test.param.name; });

// Nodes: TestNodeOperators and TestSchedulerCache_UpdateSnapshot of upstream's
// cache_test.go.
const CacheCase kNodeCases[] = {
    {"EmptyCache", {}, {}},
    {"SingleNode", {"AddNode node-1 4"}, {"node-1 0/4:"}},
    {"NodesAreSortedByName",
     {"AddNode node-2 2", "AddNode node-3 3", "AddNode node-1 1"},
     {"node-1 0/1:", "node-2 0/2:", "node-3 0/3:"}},
    {"AddNodeRemoveItAddItAgain",
     {"AddNode node-1 4", "RemoveNode node-1", "AddNode node-1 5"},
     {"node-1 0/5:"}},
    {"AddNodeTwice",
     {"AddNode node-1 4", "AddNode node-1 5", "RemoveNode node-1"},
     {}},
    {"UpdateSomeNodes",
     {"AddNode node-1 1", "AddNode node-2 2", "AddNode node-3 3",
      "UpdateNode node-1 5", "UpdateNode node-3 7"},
     {"node-1 0/5:", "node-2 0/2:", "node-3 0/7:"}},
    {"UpdateNodeKeepsThePods",
     {"AddNode node-1 4", "AddPod a node-1", "UpdateNode node-1 8"},
     {"node-1 1/8: a"}},
    {"UpdateNodeOfAnUnknownNodeAddsTheNode",
     {"UpdateNode node-1 4"},
     {"node-1 0/4:"}},
    {"RemoveAllNodes",
     {"AddNode node-1 1", "AddNode node-2 2", "RemoveNode node-1",
      "RemoveNode node-2"},
     {}},
    {"RemoveSomeNodes",
     {"AddNode node-1 1", "AddNode node-2 2", "AddNode node-3 3",
      "RemoveNode node-1", "RemoveNode node-3"},
     {"node-2 0/2:"}},
    {"RemoveAllNodesAndAddMore",
     {"AddNode node-2 2", "AddNode node-5 5", "RemoveNode node-2",
      "RemoveNode node-5", "AddNode node-7 7", "AddNode node-9 9"},
     {"node-7 0/7:", "node-9 0/9:"}},
    {"RemoveAnUnknownNode",
     {"AddNode node-1 1", "RemoveNode node-2", "AddNode node-3 3"},
     {"node-1 0/1:", "node-3 0/3:"}},
    {"AddPodBeforeItsNode",
     {"AddPod a node-1", "AddNode node-1 4"},
     {"node-1 1/4: a"}},
    {"AddPodOnAnUnknownNode",
     {"AddPod a node-1", "AddNode node-2 4"},
     {"node-2 0/4:"}},
    {"RemovePodBeforeItsNodeIsAdded",
     {"AddPod a node-1", "RemovePod a node-1", "AddNode node-1 4"},
     {"node-1 0/4:"}},
    {"RemoveNodeBeforeItsPods",
     {"AddNode node-1 4", "AddNode node-2 4", "AddPod a node-1",
      "AddPod b node-1", "RemoveNode node-1", "UpdatePod a node-1 2",
      "RemovePod a node-1", "RemovePod b node-1"},
     {"node-2 0/4:"}},
    {"ANodeThatIsAddedAgainHasItsPods",
     {"AddNode node-1 4", "AddPod a node-1", "AddPod b node-1 2",
      "RemoveNode node-1", "RemovePod a node-1", "AddNode node-1 5"},
     {"node-1 2/5: b"}},
    {"ANodeThatIsAddedAgainHasItsAssumedPods",
     {"AddNode node-1 4", "AssumePod a node-1", "RemoveNode node-1",
      "AddNode node-1 4"},
     {"node-1 1/4: a"},
     {"a"}},
    {"RemoveNodeTwice",
     {"AddNode node-1 4", "AddNode node-2 4", "AddPod a node-1",
      "RemoveNode node-1", "RemoveNode node-1", "RemoveNode node-2"},
     {}}};
INSTANTIATE_TEST_SUITE_P(Nodes, CacheCaseTest, ::testing::ValuesIn(kNodeCases),
                         [](const auto& test) { return test.param.name; });

// Upstream's text.
TEST(CacheTest, AssumePodRejectsAKnownPod) {
  Cache cache;
  RunOperation(cache, "AddNode node-1 4");
  RunOperation(cache, "AssumePod a node-1");
  const auto assume = [&] {
    return cache.AssumePod(NewPodInfo(CachedPod("a", "node-1", 2)));
  };
  const std::string message =
      "pod a(default/a) is in the cache, so can't be assumed";
  EXPECT_EQ(assume().code(), Code::kError);
  EXPECT_EQ(assume().Message(), message);
  EXPECT_THAT(CacheContents(cache), ElementsAre("node-1 1/4: a"));
  RunOperation(cache, "AddPod a node-1");
  EXPECT_EQ(assume().Message(), message);
  EXPECT_FALSE(cache.IsAssumedPod(*CachedPod("a", "")));
}

class UpdateSnapshotTest : public ::testing::Test {
 protected:
  UpdateSnapshotTest() {
    for (const char* operation : {"AddNode node-1 4", "AddNode node-2 4",
                                  "AddPod a node-1", "AddPod b node-2"}) {
      Operate(operation);
    }
  }

  // Runs an operation and updates the snapshot.
  void Operate(const std::string& operation) {
    RunOperation(cache_, operation);
    cache_.UpdateSnapshot(snapshot_);
  }

  Cache cache_;
  Snapshot snapshot_;
};

TEST_F(UpdateSnapshotTest, NodesKeepTheirAddresses) {
  const Nodes before = snapshot_.List();
  for (const char* operation : {"UpdateNode node-1 5", "AssumePod c node-2",
                                "AddNode node-3 4", "RemoveNode node-3"}) {
    Operate(operation);
  }
  EXPECT_EQ(snapshot_.List(), before);
  EXPECT_EQ(snapshot_.Get("node-1"), before[0]);
  EXPECT_EQ(snapshot_.Get("node-3"), nullptr);
}

TEST_F(UpdateSnapshotTest, CopiesOnlyChangedNodes) {
  // A copy of a NodeInfo has a copy of its vector of pods. The assignment of an
  // unchanged NodeInfo would replace this one.
  auto& unchanged = const_cast<NodeInfo&>(*snapshot_.Get("node-1"));
  unchanged.AddPod(NewPodInfo(CachedPod("mark", "node-1")));
  Operate("AssumePod c node-2");
  Operate("AddNode node-3 4");
  Operate("RemoveNode node-3");
  EXPECT_THAT(CacheContents(snapshot_),
              ElementsAre("node-1 2/4: a mark", "node-2 2/4: b c"));
  Operate("UpdateNode node-1 4");
  EXPECT_THAT(CacheContents(snapshot_),
              ElementsAre("node-1 1/4: a", "node-2 2/4: b c"));
}

TEST_F(UpdateSnapshotTest, CopiesNothingWithoutAChange) {
  auto& last_changed = const_cast<NodeInfo&>(*snapshot_.Get("node-2"));
  last_changed.AddPod(NewPodInfo(CachedPod("mark", "node-2")));
  cache_.UpdateSnapshot(snapshot_);
  EXPECT_THAT(CacheContents(snapshot_),
              ElementsAre("node-1 1/4: a", "node-2 2/4: b mark"));
}

TEST_F(UpdateSnapshotTest, GenerationsOfChangedNodesIncrease) {
  std::uint64_t last = snapshot_.generation();
  for (const char* operation :
       {"AddPod c node-1", "AssumePod d node-1", "ForgetPod d",
        "UpdatePod c node-1 2", "RemovePod c node-1", "UpdateNode node-1 5"}) {
    const std::uint64_t other = snapshot_.Get("node-2")->generation();
    Operate(operation);
    EXPECT_GT(snapshot_.Get("node-1")->generation(), last) << operation;
    EXPECT_EQ(snapshot_.Get("node-2")->generation(), other) << operation;
    last = snapshot_.generation();
    EXPECT_EQ(last, snapshot_.Get("node-1")->generation()) << operation;
  }
}

TEST_F(UpdateSnapshotTest, SharesThePodInfos) {
  Snapshot other;
  cache_.UpdateSnapshot(other);
  EXPECT_NE(other.Get("node-1"), snapshot_.Get("node-1"));
  EXPECT_EQ(other.Get("node-1")->pods(), snapshot_.Get("node-1")->pods());
  const auto pod = NewPodInfo(CachedPod("c", "node-1"));
  ASSERT_TRUE(cache_.AssumePod(pod).IsSuccess());
  cache_.UpdateSnapshot(other);
  EXPECT_EQ(other.Get("node-1")->pods().back(), pod);
}

TEST_F(UpdateSnapshotTest, TheSnapshotDoesNotChangeBetweenUpdates) {
  const auto before = CacheContents(snapshot_);
  RunOperation(cache_, "AssumePod c node-1");
  RunOperation(cache_, "RemoveNode node-2");
  EXPECT_EQ(CacheContents(snapshot_), before);
  cache_.UpdateSnapshot(snapshot_);
  EXPECT_THAT(CacheContents(snapshot_), ElementsAre("node-1 2/4: a c"));
  Operate("RemoveNode node-1");
  EXPECT_THAT(CacheContents(snapshot_), IsEmpty());
}

}  // namespace
}  // namespace minisched
