// Compares preemption with a model on random clusters: slow, obvious code that
// follows the sentences of the Kubernetes documentation.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/default_preemption_testing.h"
#include "tests/handle_testing.h"
#include "tests/random_cluster_testing.h"

namespace minisched {
namespace {

constexpr int kDrawnClusters = 10'000;
// Fewer, because each of them has an API server.
constexpr int kServedClusters = 150;

// ---- Random clusters, as plain numbers.

struct DrawnPod {
  std::string name;
  int node = 0;
  int priority = 0;
  int cpu = 0;
  int memory = 0;
  int port = 0;      // 0: none
  int started = -1;  // -1: it hasn't
  std::string app;   // its budget, or ""
};

struct DrawnNode {
  int cpu = 0;
  int memory = 0;
  int pods = 0;
  bool tainted = false;
};

struct DrawnCluster {
  std::vector<DrawnNode> nodes;
  std::vector<DrawnPod> pods;
  std::map<std::string, int> budgets;  // how many removals they allow, by app
  DrawnPod preemptor;
};

DrawnCluster Draw(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto between = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  const auto pod = [&](const std::string& name, int node) {
    return DrawnPod{.name = name,
                    .node = node,
                    .priority = between(-2, 4),
                    .cpu = between(0, 3),
                    .memory = between(0, 3),
                    .port = std::max(0, between(-6, 2)),
                    .started = between(-1, 3),
                    .app = between(0, 2) == 0 ? "web" : ""};
  };
  DrawnCluster cluster;
  const int nodes = between(1, 5);
  for (int n = 0; n < nodes; ++n) {
    cluster.nodes.push_back({.cpu = between(2, 8),
                             .memory = between(2, 8),
                             .pods = between(3, 8),
                             .tainted = between(0, 9) == 0});
    const int pods = between(0, 6);
    for (int p = 0; p < pods; ++p) {
      cluster.pods.push_back(pod(fmt::format("pod-{}-{}", n, p), n));
    }
  }
  if (between(0, 1) == 0) cluster.budgets["web"] = between(0, 2);
  cluster.preemptor = pod("urgent", -1);
  cluster.preemptor.priority = between(0, 6);
  cluster.preemptor.cpu = between(1, 6);
  cluster.preemptor.memory = between(1, 6);
  return cluster;
}

// ---- The model.

using DrawnPods = std::vector<DrawnPod>;

DrawnPods PodsOf(const DrawnCluster& cluster, int node) {
  DrawnPods pods;
  std::ranges::copy_if(cluster.pods, std::back_inserter(pods),
                       [&](const DrawnPod& pod) { return pod.node == node; });
  return pods;
}

// Returns why the pod doesn't fit beside these pods; none: it fits.
std::set<std::string> Lacks(const DrawnNode& node, const DrawnPods& pods,
                            const DrawnPod& pod) {
  std::set<std::string> lacks;
  if (node.tainted) return {"node(s) had untolerated taint(s)"};
  int cpu = pod.cpu;
  int memory = pod.memory;
  for (const DrawnPod& other : pods) {
    cpu += other.cpu;
    memory += other.memory;
    if (pod.port != 0 && other.port == pod.port) {
      return {"node(s) didn't have free ports for the requested pod ports"};
    }
  }
  if (static_cast<int>(pods.size()) + 1 > node.pods) {
    lacks.insert("Too many pods");
  }
  if (cpu > node.cpu) lacks.insert("Insufficient cpu");
  if (memory > node.memory) lacks.insert("Insufficient memory");
  return lacks;
}

// Returns true if no removal of pods helps.
bool IsHopeless(const DrawnNode& node, const DrawnPods& pods,
                const DrawnPod& pod) {
  if (node.tainted) return true;
  // As upstream: ports come first, and hide that the node is too small.
  for (const DrawnPod& other : pods) {
    if (pod.port != 0 && other.port == pod.port) return false;
  }
  return pod.cpu > node.cpu || pod.memory > node.memory;
}

struct Choice {
  DrawnPods victims;
  int violations = 0;
  std::set<std::string> why_not;  // if there are no victims
};

bool IsMoreImportant(const DrawnPod& a, const DrawnPod& b) {
  if (a.priority != b.priority) return a.priority > b.priority;
  const auto start = [](const DrawnPod& pod) {
    return pod.started < 0 ? 1000 : pod.started;
  };
  return start(a) < start(b);
}

Choice ModelVictims(const DrawnCluster& cluster, int n) {
  const DrawnNode& node = cluster.nodes[n];
  const DrawnPod& preemptor = cluster.preemptor;
  DrawnPods stay;
  DrawnPods lower;
  for (const DrawnPod& pod : PodsOf(cluster, n)) {
    (pod.priority < preemptor.priority ? lower : stay).push_back(pod);
  }
  if (lower.empty()) {
    return {.why_not = {"No preemption victims found for incoming pod"}};
  }
  if (!Lacks(node, stay, preemptor).empty()) {
    return {.why_not = Lacks(node, stay, preemptor)};
  }
  std::ranges::stable_sort(lower, IsMoreImportant);
  // The pods that their budget doesn't allow to remove are put back first.
  std::map<std::string, int> left = cluster.budgets;
  DrawnPods guarded;
  DrawnPods others;
  for (const DrawnPod& pod : lower) {
    const auto budget = left.find(pod.app);
    const bool allowed = budget == left.end() || budget->second-- > 0;
    (allowed ? others : guarded).push_back(pod);
  }
  Choice choice;
  for (const DrawnPods* group : {&guarded, &others}) {
    for (const DrawnPod& pod : *group) {
      stay.push_back(pod);
      if (Lacks(node, stay, preemptor).empty()) continue;
      stay.pop_back();
      choice.victims.push_back(pod);
      if (group == &guarded) ++choice.violations;
    }
  }
  std::ranges::stable_sort(choice.victims, IsMoreImportant);
  return choice;
}

// Returns the criteria by which nodes are compared. Less is better.
std::vector<std::int64_t> Harm(const Choice& choice) {
  std::int64_t sum = 0;
  int earliest = 1000;
  for (const DrawnPod& pod : choice.victims) {
    sum += pod.priority + 2'147'483'648;
    if (pod.priority == choice.victims[0].priority && pod.started >= 0) {
      earliest = std::min(earliest, pod.started);
    }
  }
  return {choice.violations, choice.victims[0].priority, sum,
          static_cast<std::int64_t>(choice.victims.size()), -earliest};
}

std::vector<std::string> NamesOf(const DrawnPods& pods) {
  std::vector<std::string> names;
  for (const DrawnPod& pod : pods) names.push_back(pod.name);
  return names;
}

// ---- The same clusters as objects.

std::string NodeName(std::size_t n) { return fmt::format("node-{}", n); }

Node ToNode(std::size_t n, const DrawnNode& drawn) {
  Node node = NewNodeOf(NodeName(n), drawn.cpu);
  node.status.allocatable["memory"] = Quantity::FromValue(drawn.memory);
  node.status.allocatable["pods"] = Quantity::FromValue(drawn.pods);
  if (drawn.tainted) {
    node.spec.taints = {{.key = "gpu", .effect = "NoSchedule"}};
  }
  return node;
}

Pod ToPod(const DrawnPod& drawn) {
  Pod pod = NewPodOf(
      drawn.name,
      {.priority = drawn.priority,
       .cpu = drawn.cpu,
       .node = drawn.node < 0 ? "" : NodeName(drawn.node),
       .started = drawn.started,
       .labels = drawn.app.empty() ? Labels() : Labels{{"app", drawn.app}}});
  Container& container = pod.spec.containers[0];
  container.resources.requests["memory"] = Quantity::FromValue(drawn.memory);
  if (drawn.port != 0) {
    container.ports = {{.container_port = 80,
                        .host_port = 8000 + drawn.port,
                        .protocol = "TCP"}};
  }
  return pod;
}

std::vector<std::shared_ptr<const PodDisruptionBudget>> ToBudgets(
    const DrawnCluster& cluster) {
  std::vector<std::shared_ptr<const PodDisruptionBudget>> budgets;
  for (const auto& [app, allowed] : cluster.budgets) {
    budgets.push_back(NewBudget(app, allowed));
  }
  return budgets;
}

std::vector<Node> ToNodes(const DrawnCluster& cluster) {
  std::vector<Node> nodes;
  for (std::size_t n = 0; n < cluster.nodes.size(); ++n) {
    nodes.push_back(ToNode(n, cluster.nodes[n]));
  }
  return nodes;
}

std::string Repeat(std::uint64_t seed) {
  return fmt::format("To repeat: MINISCHED_SEED={}", seed);
}

// Returns true if the pod fits none of the nodes.
bool FitsNoNode(const DrawnCluster& cluster) {
  for (std::size_t n = 0; n < cluster.nodes.size(); ++n) {
    if (Lacks(cluster.nodes[n], PodsOf(cluster, static_cast<int>(n)),
              cluster.preemptor)
            .empty()) {
      return false;
    }
  }
  return true;
}

// Checks what must be true of victims, whatever chose them.
void ExpectSound(const DrawnCluster& cluster, int n, const Candidate& chosen) {
  std::set<std::string> victims;
  for (const PodPtr& pod : chosen.victims) {
    victims.insert(pod->metadata.name);
    EXPECT_LT(*pod->spec.priority, cluster.preemptor.priority);
  }
  DrawnPods stay;
  for (const DrawnPod& pod : PodsOf(cluster, n)) {
    if (!victims.contains(pod.name)) stay.push_back(pod);
  }
  EXPECT_TRUE(Lacks(cluster.nodes[n], stay, cluster.preemptor).empty())
      << "the preemptor must fit";
  for (const DrawnPod& pod : PodsOf(cluster, n)) {
    if (!victims.contains(pod.name)) continue;
    DrawnPods with = stay;
    with.push_back(pod);
    EXPECT_FALSE(Lacks(cluster.nodes[n], with, cluster.preemptor).empty())
        << "no victim could have stayed";
  }
}

TEST(PreemptionModelTest, VictimsAndNodesAreThoseOfTheModel) {
  std::map<std::string, int> counts;
  for (std::uint64_t seed = FirstSeed(); seed < FirstSeed() + kDrawnClusters;
       ++seed) {
    const DrawnCluster cluster = Draw(seed);
    const Pod preemptor = ToPod(cluster.preemptor);
    const DisruptionBudgets budgets = NewBudgets(ToBudgets(cluster));
    const Snapshot snapshot;
    Framework framework;
    AddDefaultPlugins(framework, NewHandle(snapshot));
    std::vector<Candidate> candidates;
    std::vector<std::vector<std::int64_t>> harms;
    for (std::size_t n = 0; n < cluster.nodes.size(); ++n) {
      std::vector<Pod> pods;
      const DrawnPods drawn = PodsOf(cluster, static_cast<int>(n));
      for (const DrawnPod& pod : drawn) pods.push_back(ToPod(pod));
      if (Lacks(cluster.nodes[n], drawn, cluster.preemptor).empty() ||
          IsHopeless(cluster.nodes[n], drawn, cluster.preemptor)) {
        continue;
      }
      const NodeInfo node = NodeWithPods(ToNode(n, cluster.nodes[n]), pods);
      CycleState state;
      PreFilterResult left_over;
      framework.RunPreFilterPlugins(state, preemptor, {&node}, left_over);
      const auto candidate =
          SelectVictimsOnNode(framework, state, preemptor, node, budgets);
      const Choice model = ModelVictims(cluster, static_cast<int>(n));
      ASSERT_EQ(candidate.has_value(), model.why_not.empty()) << Repeat(seed);
      if (!candidate) {
        const auto& reasons = candidate.error().reasons();
        EXPECT_EQ(std::set(reasons.begin(), reasons.end()), model.why_not);
        ++counts["no victims"];
        continue;
      }
      EXPECT_EQ(NamesOfVictims(*candidate),
                fmt::format("{}", fmt::join(NamesOf(model.victims), " ")));
      EXPECT_EQ(candidate->pdb_violations, model.violations);
      ExpectSound(cluster, static_cast<int>(n), *candidate);
      ASSERT_FALSE(HasFailure()) << Repeat(seed);
      ++counts[model.violations > 0 ? "violations" : "no violation"];
      if (model.victims.size() > 1) ++counts["several victims"];
      candidates.push_back(*candidate);
      harms.push_back(Harm(model));
    }
    if (candidates.empty()) continue;
    const Candidate& best = SelectCandidate(candidates);
    const auto index =
        std::ranges::find(candidates, best.node_name, &Candidate::node_name) -
        candidates.begin();
    EXPECT_EQ(harms[index], std::ranges::min(harms)) << Repeat(seed);
    if (candidates.size() > 1) ++counts["several nodes"];
  }
  // Each of these must be common enough to be tested well.
  for (const char* what : {"no victims", "violations", "no violation",
                           "several victims", "several nodes"}) {
    EXPECT_GE(counts[what], 300) << what;
  }
}

// Returns what PostFilter must return: "Success" or the message of a failure.
std::string ModelResult(const DrawnCluster& cluster) {
  std::map<std::string, int> counts;
  for (std::size_t n = 0; n < cluster.nodes.size(); ++n) {
    if (IsHopeless(cluster.nodes[n], PodsOf(cluster, static_cast<int>(n)),
                   cluster.preemptor)) {
      ++counts["Preemption is not helpful for scheduling"];
      continue;
    }
    const Choice choice = ModelVictims(cluster, static_cast<int>(n));
    if (choice.why_not.empty()) return "Success";
    for (const std::string& reason : choice.why_not) ++counts[reason];
  }
  std::set<std::string> parts;
  for (const auto& [reason, count] : counts) {
    parts.insert(fmt::format("{} {}", count, reason));
  }
  return fmt::format(
      "Unschedulable: preemption: 0/{} nodes are available: {}. []",
      cluster.nodes.size(), fmt::join(parts, ", "));
}

class ServedModelTest : public DefaultPreemptionTest {
 public:
  void TestBody() override {}

  // Returns the result of PostFilter without the chosen node.
  std::string Run(const DrawnCluster& cluster) {
    std::vector<Pod> pods{ToPod(cluster.preemptor)};
    for (const DrawnPod& pod : cluster.pods) pods.push_back(ToPod(pod));
    Start(ToNodes(cluster), pods, ToBudgets(cluster));
    std::string result = PostFilter(ToPod(cluster.preemptor));
    AwaitEvictions();
    return result.starts_with("Success") ? "Success" : result;
  }
};

TEST(PreemptionModelTest, ThePluginAgrees) {
  int successes = 0;
  int clusters = 0;
  for (std::uint64_t seed = FirstSeed(); clusters < kServedClusters; ++seed) {
    const DrawnCluster cluster = Draw(seed);
    if (!FitsNoNode(cluster)) continue;
    ++clusters;
    const std::string expected = ModelResult(cluster);
    ASSERT_EQ(ServedModelTest().Run(cluster), expected) << Repeat(seed);
    if (expected == "Success") ++successes;
  }
  EXPECT_GE(successes, 20);
  EXPECT_LE(successes, kServedClusters - 20);
}

}  // namespace
}  // namespace minisched
