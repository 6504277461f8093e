// Compares SpreadCounts with a slow, obvious count of all pods, again and again
// in the course of many random changes.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "plugins/spread_counts.h"
#include "tests/random_cluster_testing.h"

namespace minisched {
namespace {

constexpr int kClusters = 1000;
constexpr int kOperationsPerCluster = 100;

// A constraint in plain words. The selector is app=`app`, or {} if app is
// empty.
struct RandomConstraint {
  std::string key;
  std::string app;
  bool honors_affinity;
  bool honors_taints;
};

struct RandomNode {
  std::map<std::string, std::string> labels;  // by topology key
  bool has_ssd;
  bool tainted;
};

struct RandomPod {
  std::size_t node;
  std::string app;
  std::string name_space;
  bool terminating;
};

// A cluster that is changed at random, and a pod with constraints.
class RandomSpread {
 public:
  explicit RandomSpread(std::uint64_t seed) : random_(seed) {
    tolerates_ = Below(2) == 0;
    wants_ssd_ = Below(2) == 0;
    for (int i = 1 + Below(3); i > 0; --i) {
      constraints_.push_back({.key = Any({"zone", "rack", "host"}),
                              .app = Any({"web", "db", ""}),
                              .honors_affinity = Below(2) == 0,
                              .honors_taints = Below(2) == 0});
    }
    for (int i = 1 + Below(8); i > 0; --i) {
      RandomNode node{.has_ssd = Below(2) == 0, .tainted = Below(3) == 0};
      if (Below(8) > 0) node.labels["zone"] = Any({"a", "b", "c"});
      if (Below(8) > 0) node.labels["rack"] = Any({"1", "2", "3", "4"});
      if (Below(8) > 0) node.labels["host"] = std::to_string(i);
      nodes_.push_back(node);
    }
    for (int i = Below(12); i > 0; --i) pods_.push_back(DrawPod());
  }

  RandomPod DrawPod() {
    return {.node = static_cast<std::size_t>(
                Below(static_cast<int>(nodes_.size()))),
            .app = Any({"web", "db"}),
            .name_space = Any({"default", "default", "other"}),
            .terminating = Below(8) == 0};
  }

  int Below(int n) {
    return std::uniform_int_distribution<int>(0, n - 1)(random_);
  }

  // Returns how many pods each domain of the constraint has.
  std::map<std::string, int> Count(const RandomConstraint& constraint) const {
    std::map<std::string, int> counts;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!IsCounted(nodes_[i], constraint)) continue;
      int& count = counts[nodes_[i].labels.at(constraint.key)];
      for (const RandomPod& pod : pods_) {
        if (pod.node == i && pod.app == constraint.app && !pod.terminating &&
            pod.name_space == "default") {
          ++count;
        }
      }
    }
    return counts;
  }

  // Return the same things as objects of the API.
  Pod ToSpread() const;
  Node NodeOf(const RandomNode& random) const;
  Pod PodOf(const RandomPod& random) const;

  std::vector<RandomConstraint> constraints_;
  std::vector<RandomNode> nodes_;
  std::vector<RandomPod> pods_;

 private:
  std::string Any(const std::vector<std::string>& words) {
    return words[static_cast<std::size_t>(
        Below(static_cast<int>(words.size())))];
  }

  bool IsCounted(const RandomNode& node,
                 const RandomConstraint& constraint) const {
    for (const RandomConstraint& any : constraints_) {
      if (!node.labels.contains(any.key)) return false;
    }
    if (constraint.honors_affinity && wants_ssd_ && !node.has_ssd) return false;
    return !constraint.honors_taints || tolerates_ || !node.tainted;
  }

  std::mt19937_64 random_;
  bool tolerates_ = false;
  bool wants_ssd_ = false;
};

Pod RandomSpread::ToSpread() const {
  Pod pod;
  pod.metadata.namespace_name = "default";
  for (const RandomConstraint& constraint : constraints_) {
    LabelSelector selector;
    if (!constraint.app.empty()) selector.match_labels["app"] = constraint.app;
    pod.spec.topology_spread_constraints.push_back(
        {.max_skew = 1,
         .topology_key = constraint.key,
         .when_unsatisfiable = "DoNotSchedule",
         .label_selector = selector,
         .node_affinity_policy = constraint.honors_affinity ? "" : "Ignore",
         .node_taints_policy = constraint.honors_taints ? "Honor" : ""});
  }
  if (tolerates_) pod.spec.tolerations = {{.operation = "Exists"}};
  if (wants_ssd_) pod.spec.node_selector = {{"disk", "ssd"}};
  return pod;
}

Node RandomSpread::NodeOf(const RandomNode& random) const {
  Node node;
  for (const auto& [key, value] : random.labels) {
    node.metadata.labels[key] = value;
  }
  if (random.has_ssd) node.metadata.labels["disk"] = "ssd";
  if (random.tainted) {
    node.spec.taints = {{.key = "gpu", .effect = "NoExecute"}};
  }
  return node;
}

Pod RandomSpread::PodOf(const RandomPod& random) const {
  Pod pod;
  pod.metadata.namespace_name = random.name_space;
  pod.metadata.labels = {{"app", random.app}};
  if (random.terminating) pod.metadata.deletion_timestamp = Time();
  return pod;
}

// Expects that the counts equal those of the slow count.
void ExpectEqual(const SpreadCounts& counts, const RandomSpread& cluster) {
  for (std::size_t i = 0; i < cluster.constraints_.size(); ++i) {
    const auto expected = cluster.Count(cluster.constraints_[i]);
    const TopologyDomains& domains = counts.domains()[i];
    ASSERT_EQ(domains.size(), static_cast<int>(expected.size()));
    int least = expected.empty() ? 0 : expected.begin()->second;
    for (const auto& [domain, count] : expected) {
      ASSERT_EQ(domains.Count(domain), count) << domain;
      least = std::min(least, count);
    }
    ASSERT_EQ(domains.Min(), least);
  }
}

// The nodes of a cluster with its pods, as a snapshot has them.
struct RandomSnapshot {
  explicit RandomSnapshot(const RandomSpread& cluster) {
    for (const RandomNode& node : cluster.nodes_) {
      infos.emplace_back(std::make_shared<const Node>(cluster.NodeOf(node)));
    }
    for (const RandomPod& pod : cluster.pods_) {
      infos[pod.node].AddPod(
          NewPodInfo(std::make_shared<const Pod>(cluster.PodOf(pod))));
    }
    for (const NodeInfo& info : infos) nodes.push_back(&info);
  }

  std::vector<NodeInfo> infos;
  Nodes nodes;
};

TEST(SpreadCountsRandomTest, EqualsASlowCountAfterRandomChanges) {
  const std::uint64_t first = FirstSeed();
  for (std::uint64_t seed = first; seed < first + kClusters; ++seed) {
    SCOPED_TRACE("MINISCHED_SEED=" + std::to_string(seed));
    RandomSpread cluster(seed);
    const RandomSpread before = cluster;
    const Pod pod = cluster.ToSpread();
    const RandomSnapshot snapshot(cluster);
    const SpreadCounts original(pod, GetSpreadConstraints(pod), snapshot.nodes);
    ASSERT_NO_FATAL_FAILURE(ExpectEqual(original, cluster));
    SpreadCounts counts = original;
    for (int i = 0; i < kOperationsPerCluster; ++i) {
      std::vector<RandomPod>& pods = cluster.pods_;
      RandomPod changed = cluster.DrawPod();
      // About a dozen pods, so that domains often have none.
      const bool removes = cluster.Below(24) < static_cast<int>(pods.size());
      if (removes) {
        std::swap(pods[cluster.Below(static_cast<int>(pods.size()))],
                  pods.back());
        changed = pods.back();
        pods.pop_back();
      } else {
        pods.push_back(changed);
      }
      counts.Update(pod, cluster.PodOf(changed),
                    snapshot.infos[changed.node].node(), removes ? -1 : 1);
      if (cluster.Below(20) > 0) continue;
      ASSERT_NO_FATAL_FAILURE(ExpectEqual(counts, cluster));
    }
    ASSERT_NO_FATAL_FAILURE(ExpectEqual(counts, cluster));
    // The changes of a copy must not reach the original.
    ASSERT_NO_FATAL_FAILURE(ExpectEqual(original, before));
  }
}

}  // namespace
}  // namespace minisched
