// Changes random clusters, and expects that the hints return Queue if the
// change lets the pod go to a node that was rejected before.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/affinity_testing.h"
#include "tests/handle_testing.h"
#include "tests/hints_testing.h"
#include "tests/random_cluster_testing.h"

namespace minisched {
namespace {

constexpr int kHintClusters = 1000;

// A small cluster, and a pod to schedule.
class HintCluster {
 public:
  explicit HintCluster(std::uint64_t seed) : random_(seed) {
    for (const char* name : {"a", "b", "c"}) nodes_[name] = DrawLabels();
    for (int i = 0; i < 4; ++i) {
      pods_["p" + std::to_string(i)] = DrawPod();
    }
    pod_ = DrawPod();
    pod_.node = "";
  }

  // Changes the cluster at random. Returns the hint for the change.
  QueueingHint Change() {
    const std::string name = Any({"p0", "p1", "p2", "p3", "p4"});
    const std::string node = Any({"a", "b", "c", "d"});
    const auto old = pods_.find(name);
    switch (random_() % 3) {
      case 0:
        return ChangePod(
            name, old == pods_.end() ? std::optional(DrawPod()) : std::nullopt);
      case 1: {
        if (old == pods_.end()) return ChangePod(name, DrawPod());
        AffinityPod relabelled = old->second;
        relabelled.labels = DrawPod().labels;
        // As in kube-scheduler, the hint skips this change even if it helps.
        if (Repels(old->second) && Repels(relabelled)) {
          return QueueingHint::kSkip;
        }
        return ChangePod(name, relabelled);
      }
      default:
        return ChangeNode(node, DrawLabels());
    }
  }

  // Returns the nodes that the plugin doesn't reject.
  std::set<std::string> Feasible() const {
    std::vector<std::shared_ptr<const Node>> nodes;
    for (const auto& [name, labels] : nodes_) {
      nodes.push_back(NodeWith(name, labels));
    }
    std::vector<std::shared_ptr<const Pod>> pods;
    for (const auto& [name, pod] : pods_) {
      pods.push_back(std::make_shared<const Pod>(ToPod(pod, name)));
    }
    const Snapshot snapshot = NewSnapshot(nodes, pods);
    const InterPodAffinity plugin(
        NewHandle(snapshot, {.informers = TestNamespaces()}));
    CycleState state;
    PreFilterResult result;
    const Pod pod = ToPod(pod_, "pod");
    const Status status = plugin.PreFilter(state, pod, snapshot.List(), result);
    std::set<std::string> feasible;
    for (const NodeInfo* node : snapshot.List()) {
      if (status.code() == Code::kSkip ||
          plugin.Filter(state, pod, *node).IsSuccess()) {
        feasible.insert(node->node().metadata.name);
      }
    }
    return feasible;
  }

 private:
  std::string Any(const std::vector<std::string>& words) {
    return words[random_() % words.size()];
  }

  std::string DrawLabels() {
    return Any(
        {"zone=1", "zone=2", "", "zone=1 rack=1", "zone=2 rack=1", "rack=2"});
  }
  std::string DrawTerms() {
    std::string terms;
    for (auto i = random_() % 3; i > 0; --i) {
      terms += Any({"zone", "rack"}) + Any({" x", " y", " !x"}) +
               Any({"", "", " of=team=a", " of=all", " of=team!=a"}) + ";";
    }
    return terms;
  }
  AffinityPod DrawPod() {
    return {.labels = Any({"x", "y", "x y", ""}),
            .affinity = DrawTerms(),
            .anti_affinity = DrawTerms(),
            .node = Any({"a", "b", "c"}),
            .name_space = Any({"default", "a1", "a2", "b1"})};
  }

  // Returns true if a term of the pod's anti-affinity matches the other pod.
  bool Repels(const AffinityPod& parts) const {
    const Pod other = ToPod(parts, "other");
    const auto found = TestNamespaces().Of<Namespace>().store().Get(
        "", other.metadata.namespace_name);
    const Labels labels = found ? found->metadata.labels : Labels();
    const AffinityTerms terms = ParseAffinityTerms(ToPod(pod_, "pod"));
    return std::ranges::any_of(
        terms.required_anti_affinity,
        [&](const AffinityTerm& term) { return term.Matches(other, labels); });
  }

  static std::shared_ptr<const Node> NodeWith(const std::string& name,
                                              const std::string& labels) {
    return ParseNodes(name + " " + labels)[0];
  }

  QueueingHint ChangePod(const std::string& name,
                         const std::optional<AffinityPod>& now) {
    std::shared_ptr<const Pod> was;
    std::shared_ptr<const Pod> is;
    const auto old = pods_.extract(name);
    if (old) was = std::make_shared<const Pod>(ToPod(old.mapped(), name));
    if (now) {
      pods_[name] = *now;
      is = std::make_shared<const Pod>(ToPod(*now, name));
    }
    const EventResource resource = EventResource::kAssignedPod;
    if (!was) return HintFor({{resource, action::kAdd}}, {}, is);
    if (!is) return HintFor({{resource, action::kDelete}}, was, {});
    if (was->metadata.labels == is->metadata.labels) return QueueingHint::kSkip;
    return HintFor(PodSchedulingPropertiesChange(*was, *is), was, is);
  }

  QueueingHint ChangeNode(const std::string& name, const std::string& labels) {
    const auto is = NodeWith(name, labels);
    const auto old = nodes_.extract(name);
    nodes_[name] = labels;
    if (!old) return HintFor({{EventResource::kNode, action::kAdd}}, {}, is);
    if (old.mapped() == labels) return QueueingHint::kSkip;
    const auto was = NodeWith(name, old.mapped());
    return HintFor(NodeSchedulingPropertiesChange(*was, *is), was, is);
  }

  QueueingHint HintFor(const std::vector<ClusterEvent>& events,
                       const EventObject& old_object,
                       const EventObject& new_object) const {
    const Snapshot snapshot;
    const InterPodAffinity plugin(
        NewHandle(snapshot, {.informers = TestNamespaces()}));
    return HintAfter(plugin, ToPod(pod_, "pod"), events, old_object,
                     new_object);
  }

  std::mt19937_64 random_;
  std::map<std::string, std::string> nodes_;  // the labels, by name
  std::map<std::string, AffinityPod> pods_;   // by name
  AffinityPod pod_;
};

TEST(AffinityHintsRandomTest, AChangeThatHelpsWakesThePod) {
  const std::uint64_t first = FirstSeed();
  int helped = 0;
  int skipped = 0;
  for (std::uint64_t seed = first; seed < first + kHintClusters; ++seed) {
    SCOPED_TRACE("MINISCHED_SEED=" + std::to_string(seed));
    HintCluster cluster(seed);
    std::set<std::string> before = cluster.Feasible();
    for (int i = 0; i < 10; ++i) {
      const QueueingHint hint = cluster.Change();
      const std::set<std::string> after = cluster.Feasible();
      const bool helps = !std::ranges::includes(before, after);
      ASSERT_TRUE(!helps || hint == QueueingHint::kQueue) << "change " << i;
      helped += helps;
      skipped += hint == QueueingHint::kSkip;
      before = after;
    }
  }
  // Otherwise this test would prove nothing.
  EXPECT_GT(helped, kHintClusters / 2);
  EXPECT_GT(skipped, kHintClusters / 2);
}

}  // namespace
}  // namespace minisched
