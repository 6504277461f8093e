// Compares the counts of InterPodAffinity, and its verdicts, with a slow,
// obvious count of all pods, again and again in the course of many random
// changes.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "plugins/affinity_counts.h"
#include "tests/affinity_testing.h"
#include "tests/handle_testing.h"
#include "tests/random_cluster_testing.h"
#include "tests/status_testing.h"

namespace minisched {
namespace {

constexpr int kAffinityClusters = 1000;
constexpr int kChangesPerCluster = 100;

// The teams of the namespaces in NamespaceInformers.
const std::map<std::string, std::string> kTeams = {
    {"default", ""}, {"a1", "a"}, {"a2", "a"}, {"b1", "b"}};
const std::vector<std::string> kNames = {"default", "default", "a1",
                                         "a2",      "b1",      "unknown"};
const std::vector<std::string> kKeys = {"zone", "rack", "host"};

// A term in plain words.
struct PlainTerm {
  std::string key;
  std::string app;    // of the selected pods; empty: any
  std::string where;  // "own", "b1", "team=a", "team!=a" or "everywhere"
};
using PlainTerms = std::vector<PlainTerm>;

struct PlainPod {
  std::size_t node;
  std::string app;
  std::string name_space;
  PlainTerms affinity;
  PlainTerms anti_affinity;
  PodInfoPtr info = nullptr;  // the same as an object of the API
};

// Returns true if a term of a pod in the namespace `own` applies to the
// namespace. Only teams of known namespaces are compared if `only_known`.
bool AppliesTo(const PlainTerm& term, const std::string& own,
               const std::string& name_space, bool only_known) {
  if (term.where == "everywhere") return true;
  if (term.where == "own") return name_space == own;
  if (term.where == "b1") return name_space == "b1";
  const auto team = kTeams.find(name_space);
  if (team == kTeams.end()) return !only_known && term.where == "team!=a";
  return (team->second == "a") == (term.where == "team=a");
}

bool Selects(const PlainTerm& term, const PlainPod& pod) {
  return term.app.empty() || term.app == pod.app;
}

// Returns the terms in the text form of ParseAffinity().
std::string TextOfTerms(const PlainTerms& terms) {
  std::string text;
  for (const PlainTerm& term : terms) {
    text += term.key + (term.app.empty() ? " all" : " app=" + term.app);
    if (term.where == "b1") text += " in=b1";
    if (term.where.starts_with("team")) text += " of=" + term.where;
    if (term.where == "everywhere") text += " of=all";
    text += ";";
  }
  return text;
}

// A cluster that is changed at random, and a pod to schedule.
class RandomAffinity {
 public:
  explicit RandomAffinity(std::uint64_t seed) : random_(seed) {
    for (int i = 1 + Below(8); i > 0; --i) {
      std::map<std::string, std::string>& labels = nodes_.emplace_back();
      if (Below(8) > 0) labels["zone"] = Any({"a", "b", "c"});
      if (Below(8) > 0) labels["rack"] = Any({"1", "2", "3", "4"});
      if (Below(8) > 0) labels["host"] = std::to_string(i);
    }
    for (int i = 0; i < 20; ++i) templates_.push_back(DrawTemplate());
    for (int i = Below(12); i > 0; --i) pods_.push_back(DrawPod());
    pod_ = DrawTemplate();
  }

  // Returns a pod on any node.
  PlainPod DrawPod() {
    PlainPod pod = templates_[Index(templates_)];
    pod.node = Index(nodes_);
    return pod;
  }

  int Below(int n) {
    return std::uniform_int_distribution<int>(0, n - 1)(random_);
  }
  template <class T>
  std::size_t Index(const std::vector<T>& all) {
    return static_cast<std::size_t>(Below(static_cast<int>(all.size())));
  }

  bool MatchesAllTerms(const PlainPod& other) const {
    for (const PlainTerm& term : pod_.affinity) {
      if (!AppliesTo(term, pod_.name_space, other.name_space, true) ||
          !Selects(term, other)) {
        return false;
      }
    }
    return !pod_.affinity.empty();
  }

  // The three counts of the domain `value` of the topology `key`.
  int Required(const std::string& key, const std::string& value) const {
    int count = 0;
    for (const PlainPod& other : pods_) {
      if (!IsIn(other, key, value) || !MatchesAllTerms(other)) continue;
      for (const PlainTerm& term : pod_.affinity) count += term.key == key;
    }
    return count;
  }
  int Avoided(const std::string& key, const std::string& value) const {
    int count = 0;
    for (const PlainPod& other : pods_) {
      if (!IsIn(other, key, value)) continue;
      for (const PlainTerm& term : pod_.anti_affinity) {
        count += term.key == key && Selects(term, other) &&
                 AppliesTo(term, pod_.name_space, other.name_space, true);
      }
    }
    return count;
  }
  int Repelled(const std::string& key, const std::string& value) const {
    int count = 0;
    for (const PlainPod& other : pods_) {
      if (!IsIn(other, key, value)) continue;
      for (const PlainTerm& term : other.anti_affinity) {
        count += term.key == key && Selects(term, pod_) &&
                 AppliesTo(term, other.name_space, pod_.name_space, false);
      }
    }
    return count;
  }

  // Returns the sum of a count over all domains.
  template <class Count>
  int Sum(const Count& count) const {
    std::map<std::pair<std::string, std::string>, int> counts;
    for (const auto& node : nodes_) {
      for (const auto& label : node) {
        counts[label] = (this->*count)(label.first, label.second);
      }
    }
    int sum = 0;
    for (const auto& [label, one] : counts) sum += one;
    return sum;
  }

  // Returns what rejects the node. `none_required`: all counts of Required()
  // are 0.
  std::string Verdict(const std::map<std::string, std::string>& node,
                      bool none_required) const {
    bool near = true;
    for (const PlainTerm& term : pod_.affinity) {
      if (!node.contains(term.key)) return "affinity";
      near = near && Required(term.key, node.at(term.key)) > 0;
    }
    const bool is_first = none_required && MatchesAllTerms(pod_);
    if (!near && !is_first) return "affinity";
    for (const auto& [key, value] : node) {
      if (Avoided(key, value) > 0) return "anti-affinity";
    }
    for (const auto& [key, value] : node) {
      if (Repelled(key, value) > 0) return "existing";
    }
    return "yes";
  }

  std::vector<std::map<std::string, std::string>> nodes_;  // their labels
  std::vector<PlainPod> pods_;
  PlainPod pod_;

 private:
  std::string Any(const std::vector<std::string>& words) {
    return words[Index(words)];
  }

  PlainPod DrawTemplate() {
    PlainPod pod{.node = 0,
                 .app = Any({"web", "db"}),
                 .name_space = Any(kNames),
                 .affinity = {},
                 .anti_affinity = {}};
    for (int i = Below(3); i > 0; --i) pod.affinity.push_back(DrawTerm());
    for (int i = Below(3); i > 0; --i) pod.anti_affinity.push_back(DrawTerm());
    Pod object = ToPod({.labels = "app=" + pod.app,
                        .affinity = TextOfTerms(pod.affinity),
                        .anti_affinity = TextOfTerms(pod.anti_affinity),
                        .name_space = pod.name_space},
                       "");
    pod.info = NewPodInfo(std::make_shared<const Pod>(std::move(object)));
    return pod;
  }

  PlainTerm DrawTerm() {
    return {
        .key = Any(kKeys),
        .app = Any({"web", "db", ""}),
        .where = Any({"own", "own", "b1", "team=a", "team!=a", "everywhere"})};
  }

  bool IsIn(const PlainPod& pod, const std::string& key,
            const std::string& value) const {
    const auto label = nodes_[pod.node].find(key);
    return label != nodes_[pod.node].end() && label->second == value;
  }

  std::mt19937_64 random_;
  std::vector<PlainPod> templates_;
};

Snapshot TakeSnapshot(const RandomAffinity& cluster) {
  std::vector<std::shared_ptr<const Node>> nodes;
  for (std::size_t i = 0; i < cluster.nodes_.size(); ++i) {
    Node node;
    node.metadata.name = "node-" + std::to_string(i);
    for (const auto& [key, value] : cluster.nodes_[i]) {
      node.metadata.labels[key] = value;
    }
    nodes.push_back(std::make_shared<const Node>(std::move(node)));
  }
  std::vector<std::shared_ptr<const Pod>> pods;
  for (const PlainPod& plain : cluster.pods_) {
    Pod pod = *plain.info->pod;
    pod.spec.node_name = "node-" + std::to_string(plain.node);
    pods.push_back(std::make_shared<const Pod>(std::move(pod)));
  }
  return NewSnapshot(nodes, pods);
}

std::string VerdictOf(const Status& status) {
  if (status.IsSuccess()) return "yes";
  const std::string message = status.Message();
  if (message == "node(s) didn't match pod affinity rules") return "affinity";
  if (message == "node(s) didn't match pod anti-affinity rules") {
    return "anti-affinity";
  }
  return "existing";
}

// Expects the counts and verdicts of the slow count.
void ExpectEqualCounts(const AffinityCounts& counts, const Snapshot& snapshot,
                       const RandomAffinity& cluster) {
  using Model = RandomAffinity;
  const bool none_required = cluster.Sum(&Model::Required) == 0;
  ASSERT_EQ(counts.required().Empty(), none_required);
  ASSERT_EQ(counts.avoided().Empty(), cluster.Sum(&Model::Avoided) == 0);
  ASSERT_EQ(counts.repelled().Empty(), cluster.Sum(&Model::Repelled) == 0);
  for (std::size_t i = 0; i < cluster.nodes_.size(); ++i) {
    const Node& node = snapshot.Get("node-" + std::to_string(i))->node();
    for (const auto& [key, value] : cluster.nodes_[i]) {
      const std::string label = key + "=" + value;
      ASSERT_EQ(counts.required().Count(node, key),
                cluster.Required(key, value))
          << label;
      ASSERT_EQ(counts.avoided().Count(node, key), cluster.Avoided(key, value))
          << label;
      ASSERT_EQ(counts.repelled().Count(node, key),
                cluster.Repelled(key, value))
          << label;
    }
    ASSERT_EQ(VerdictOf(counts.Check(node)),
              cluster.Verdict(cluster.nodes_[i], none_required))
        << node.metadata.name;
  }
}

// Changes the cluster and the counts at random, and compares them.
void ChangeAtRandom(const InterPodAffinity& plugin, CycleState state,
                    const Pod& pod, const Snapshot& snapshot,
                    RandomAffinity cluster) {
  for (int i = 0; i < kChangesPerCluster; ++i) {
    std::vector<PlainPod>& pods = cluster.pods_;
    // About a dozen pods, so that domains often have none.
    const bool removes = cluster.Below(24) < static_cast<int>(pods.size());
    if (removes) {
      std::swap(pods[cluster.Index(pods)], pods.back());
    } else {
      pods.push_back(cluster.DrawPod());
    }
    const PlainPod changed = pods.back();
    const NodeInfo& node =
        *snapshot.Get("node-" + std::to_string(changed.node));
    if (removes) {
      pods.pop_back();
      plugin.RemovePod(state, pod, *changed.info, node);
    } else {
      plugin.AddPod(state, pod, *changed.info, node);
    }
    if (cluster.Below(20) > 0) continue;
    ASSERT_NO_FATAL_FAILURE(
        ExpectEqualCounts(state.Read<AffinityCounts>(), snapshot, cluster));
  }
}

TEST(AffinityCountsRandomTest, EqualASlowCountAfterRandomChanges) {
  const std::uint64_t first = FirstSeed();
  for (std::uint64_t seed = first; seed < first + kAffinityClusters; ++seed) {
    SCOPED_TRACE("MINISCHED_SEED=" + std::to_string(seed));
    const RandomAffinity cluster(seed);
    const Pod& pod = *cluster.pod_.info->pod;
    const Snapshot snapshot = TakeSnapshot(cluster);
    const InterPodAffinity plugin(
        NewHandle(snapshot, {.informers = TestNamespaces()}));
    CycleState state;
    PreFilterResult result;
    const Status status = plugin.PreFilter(state, pod, snapshot.List(), result);
    const bool can_reject = !cluster.pod_.affinity.empty() ||
                            !cluster.pod_.anti_affinity.empty() ||
                            cluster.Sum(&RandomAffinity::Repelled) > 0;
    ASSERT_EQ(Describe(status), can_reject ? "Success" : "Skip");
    if (!can_reject) continue;
    const auto& counts = state.Read<AffinityCounts>();
    ASSERT_NO_FATAL_FAILURE(ExpectEqualCounts(counts, snapshot, cluster));
    ASSERT_NO_FATAL_FAILURE(
        ChangeAtRandom(plugin, state, pod, snapshot, cluster));
    // The changes of a copy must not reach the original.
    ASSERT_NO_FATAL_FAILURE(ExpectEqualCounts(counts, snapshot, cluster));
  }
}

}  // namespace
}  // namespace minisched
