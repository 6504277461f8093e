// Compares the scheduler with the model on random clusters.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "framework/diagnosis.h"
#include "framework/framework.h"
#include "plugins/registry.h"
#include "tests/handle_testing.h"
#include "tests/model_testing.h"
#include "tests/random_cluster_testing.h"
#include "tests/scheduled_cluster_testing.h"
#include "tests/snapshot_testing.h"
#include "tests/status_testing.h"

namespace minisched {
namespace {

constexpr int kClusters = 500;
// Fewer clusters, because the whole scheduler is slower than the plugins.
constexpr int kScheduledClusters = 100;

// Results by node: "Success", "Unschedulable by NodePorts: no free port".
using Results = std::map<std::string, std::string>;

Results ModelResults(const RandomCluster& cluster, const Pod& pod) {
  Results results;
  for (const auto& [node, status] : ModelFilter(cluster, pod)) {
    results[node] = Describe(status);
  }
  return results;
}

// Returns the results of the default plugins for the pod.
Results PluginResults(const Snapshot& snapshot, const Pod& pod) {
  Framework framework;
  AddDefaultPlugins(framework, NewHandle(snapshot));
  CycleState state;
  PreFilterResult left_over;
  const Status status =
      framework.RunPreFilterPlugins(state, pod, snapshot.List(), left_over);
  Results results;
  for (const NodeInfo* node : snapshot.List()) {
    const std::string& name = node->node().metadata.name;
    if (!status.IsSuccess()) {
      results[name] = Describe(status);
    } else if (left_over.node_names && !left_over.node_names->contains(name)) {
      results[name] = fmt::format(
          "UnschedulableAndUnresolvable: node(s) didn't satisfy plugin(s) [{}]",
          fmt::join(left_over.plugins, " "));
    } else {
      results[name] = Describe(framework.RunFilterPlugins(state, pod, *node));
    }
  }
  return results;
}

TEST(ModelTest, PluginsAgreeOnEveryNode) {
  std::map<std::string, int> counts;
  for (std::uint64_t seed = FirstSeed(); seed < FirstSeed() + kClusters;
       ++seed) {
    const RandomCluster cluster = DrawCluster(seed);
    const Snapshot snapshot = NewSnapshot(cluster.nodes, cluster.pods);
    for (const auto& pod : cluster.pending) {
      const Results expected = ModelResults(cluster, *pod);
      ASSERT_EQ(PluginResults(snapshot, *pod), expected)
          << Reproduce(seed, cluster, *pod);
      for (const auto& [node, result] : expected) ++counts[result];
    }
  }
  // Each of these results must be common enough to be tested well.
  for (const char* result :
       {"Success",
        "UnschedulableAndUnresolvable by Unsupported: not supported by this "
        "scheduler: resource claims",
        "UnschedulableAndUnresolvable by NodeAffinity: pod affinity terms "
        "conflict",
        "UnschedulableAndUnresolvable: node(s) didn't satisfy plugin(s) "
        "[NodeAffinity]",
        "UnschedulableAndUnresolvable by NodeUnschedulable: node(s) were "
        "unschedulable",
        "UnschedulableAndUnresolvable by TaintToleration: node(s) had "
        "untolerated taint(s)",
        "UnschedulableAndUnresolvable by NodeAffinity: node(s) didn't match "
        "Pod's node affinity/selector",
        "Unschedulable by NodePorts: node(s) didn't have free ports for the "
        "requested pod ports",
        "Unschedulable by NodeResourcesFit: Too many pods",
        "Unschedulable by NodeResourcesFit: Insufficient cpu",
        "UnschedulableAndUnresolvable by NodeResourcesFit: Insufficient cpu",
        "Unschedulable by NodeResourcesFit: Insufficient memory",
        "UnschedulableAndUnresolvable by NodeResourcesFit: Insufficient "
        "example.com/gpu"}) {
    EXPECT_GE(counts[result], 20) << result;
  }
}

// Returns the message of a pod that fits no node.
std::string ModelMessage(const std::map<std::string, Status>& statuses) {
  const std::string start =
      fmt::format("0/{} nodes are available: ", statuses.size());
  std::map<std::string, int> counts;
  for (const auto& [node, status] : statuses) {
    // Both plugins reject the pod before any node is checked.
    if (status.plugin() == "Unsupported" ||
        status.Message() == "pod affinity terms conflict") {
      return start + status.Message() + ".";
    }
    for (const auto& reason : status.reasons()) ++counts[reason];
  }
  std::set<std::string> parts;
  for (const auto& [reason, count] : counts) {
    parts.insert(fmt::format("{} {}", count, reason));
  }
  return start + fmt::format("{}.", fmt::join(parts, ", "));
}

// Returns the sentence about the nodes. From step 14 on, another one may
// follow.
std::string FirstSentence(const std::string& message) {
  const auto end = message.find(". ");
  return end == message.npos ? message : message.substr(0, end + 1);
}

// Expects that the attempt agrees with the model's statuses. Attempts don't
// have codes, so the codes are not compared.
void ExpectAgrees(const Attempt& attempt,
                  const std::map<std::string, Status>& statuses) {
  const bool fits =
      std::any_of(statuses.begin(), statuses.end(),
                  [](const auto& status) { return status.second.IsSuccess(); });
  EXPECT_EQ(FirstSentence(attempt.failure), fits ? "" : ModelMessage(statuses));
  EXPECT_EQ(attempt.node.empty(), !fits);
  if (fits) {
    EXPECT_TRUE(statuses.at(attempt.node).IsSuccess());
  }
  for (const std::string& name : attempt.fits) {
    EXPECT_TRUE(statuses.at(name).IsSuccess());
  }
  for (const auto& [name, rejections] : attempt.rejected) {
    const Status& status = statuses.at(name);
    EXPECT_FALSE(status.IsSuccess());
    for (const auto& [plugin, reasons] : rejections) {
      EXPECT_EQ(plugin, status.plugin());
      EXPECT_EQ(reasons, status.reasons());
    }
  }
}

TEST(ModelTest, TheSchedulerAgreesOnEveryPod) {
  for (std::uint64_t seed = FirstSeed();
       seed < FirstSeed() + kScheduledClusters; ++seed) {
    const RandomCluster cluster = DrawCluster(seed);
    const auto attempts = ScheduledCluster(cluster).Try(cluster.pending.size());
    for (const auto& pod : cluster.pending) {
      ExpectAgrees(attempts.at(pod->metadata.uid), ModelFilter(cluster, *pod));
      ASSERT_FALSE(HasFailure()) << Reproduce(seed, cluster, *pod);
    }
  }
}

}  // namespace
}  // namespace minisched
