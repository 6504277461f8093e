// Compares the scheduler with the model on random clusters.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <variant>

#include "diagnosis.h"
#include "framework.h"
#include "lab/testing/scripted_cluster.h"
#include "minisched/api/json.h"
#include "minisched/base/fake_clock.h"
#include "model_testing.h"
#include "plugins/registry.h"
#include "random_cluster_testing.h"
#include "scheduler.h"
#include "snapshot.h"
#include "status_testing.h"

namespace minisched {
namespace {

constexpr int kClusters = 500;
// Fewer clusters, because the whole scheduler is slower than the plugins.
constexpr int kScheduledClusters = 100;

// Returns the seed of the first cluster. The other clusters have the next
// seeds. A failing test prints the seed of its cluster.
std::uint64_t FirstSeed() {
  const char* seed = std::getenv("MINISCHED_SEED");
  return seed == nullptr ? 1 : std::stoull(seed);
}

std::string Reproduce(std::uint64_t seed, const RandomCluster& cluster,
                      const Pod& pod) {
  std::string text = fmt::format(
      "To repeat: MINISCHED_SEED={}\nThe pod:\n{}\nThe nodes and their pods:",
      seed, ToJson(pod));
  for (const auto& node : cluster.nodes) text += "\n" + ToJson(*node);
  for (const auto& other : cluster.pods) text += "\n" + ToJson(*other);
  return text;
}

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
  AddDefaultPlugins(framework, {.snapshot = snapshot});
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
    Snapshot snapshot;
    snapshot.Update(cluster.nodes, cluster.pods);
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

// A scheduler that tries all pending pods of a cluster. The cluster never
// changes: Bindings have no effect.
class ScheduledCluster {
 public:
  explicit ScheduledCluster(const RandomCluster& cluster) {
    for (const auto& node : cluster.nodes) api_.Add(*node);
    for (const auto& pod : cluster.pods) api_.Add(*pod);
    for (const auto& pod : cluster.pending) api_.Add(*pod);
  }

  // Returns the first attempt of each pod, by the pod's uid.
  std::map<std::string, Attempt> Try(std::size_t pods) {
    TraceReader reader(trace_, AttemptDetail::kFirstObjections);
    Client client(api_.config());
    Scheduler scheduler({client, "minisched", trace_, {}}, {}, clock_);
    const std::jthread thread(
        [&](const std::stop_token& stop) { scheduler.Run(stop); });
    std::map<std::string, Attempt> attempts;
    while (attempts.size() < pods) {
      for (const RecordPtr& record : reader.Next({})) {
        const auto* attempt = std::get_if<Attempt>(&record->state);
        if (attempt == nullptr) continue;
        const bool is_new = attempts.emplace(attempt->uid, *attempt).second;
        if (is_new && !attempt->node.empty()) {
          api_.TakeBinding().reply.Send(201, R"({"kind":"Status"})");
        }
      }
    }
    return attempts;
  }

 private:
  FakeClock clock_;
  ScriptedCluster api_{clock_};
  Trace trace_{"minisched", clock_};
};

// Expects that the attempt agrees with the model's statuses. Attempts don't
// have codes, so the codes are not compared.
void ExpectAgrees(const Attempt& attempt,
                  const std::map<std::string, Status>& statuses) {
  const bool fits =
      std::any_of(statuses.begin(), statuses.end(),
                  [](const auto& status) { return status.second.IsSuccess(); });
  EXPECT_EQ(attempt.failure, fits ? "" : ModelMessage(statuses));
  EXPECT_EQ(attempt.node.empty(), !fits);
  if (fits) {
    EXPECT_TRUE(statuses.at(attempt.node).IsSuccess());
  }
  for (const NodeVerdict& verdict : attempt.nodes) {
    const Status& status = statuses.at(verdict.node);
    EXPECT_EQ(verdict.objections.empty(), status.IsSuccess());
    for (const auto& [plugin, reasons] : verdict.objections) {
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
