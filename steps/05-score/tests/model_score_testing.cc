#include "tests/model_score_testing.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/model_rules_testing.h"
#include "tests/model_testing.h"

namespace minisched {
namespace {

constexpr std::int64_t kMiB = 1024 * 1024;

// A node that the pod fits, and the pods on it.
struct ScoredNode {
  const Node& node;
  std::vector<const Pod*> pods;
};

// TaintToleration: counts the taints with the effect PreferNoSchedule that the
// pod doesn't tolerate.
std::int64_t CountIntolerableTaints(const Pod& pod, const Node& node) {
  std::int64_t count = 0;
  for (const Taint& taint : node.spec.taints) {
    if (taint.effect != "PreferNoSchedule") continue;
    if (!ModelToleratesAny(pod, taint)) ++count;
  }
  return count;
}

// NodeAffinity: adds the weights of the preferred terms that match the node. A
// pod skips the plugin if it has no terms, or only empty ones.
bool HasPreference(const Pod& pod) {
  for (const auto& [weight, term] : pod.spec.affinity.node_affinity.preferred) {
    if (!term.match_expressions.empty() || !term.match_fields.empty()) {
      return true;
    }
  }
  return false;
}

std::int64_t SumMatchingWeights(const Pod& pod, const Node& node) {
  std::int64_t sum = 0;
  for (const auto& [weight, term] : pod.spec.affinity.node_affinity.preferred) {
    if (ModelMatchesTerm(term, node)) sum += weight;
  }
  return sum;
}

// NodeResourcesFit and NodeResourcesBalancedAllocation.

// Returns thousandths of a core or of a byte. The limit for absurd amounts is
// far beyond each node's.
std::int64_t Millis(const Quantity& amount) {
  return static_cast<std::int64_t>(
      std::min(amount, Quantity::FromValue(std::int64_t{1} << 40))
          .MilliValue());
}

// A container that doesn't request cpu or memory counts as 100m or 200 MiB.
Quantity Missing(const std::string& resource) {
  return resource == "cpu" ? Quantity::FromMilli(100)
                           : Quantity::FromValue(200 * kMiB);
}

// Returns what NodeResourcesFit counts for the pending pod. Upstream ignores
// its requests as a whole.
Quantity ScoredRequestOfPending(Pod pod, const std::string& resource) {
  pod.spec.resources = {};
  return ModelRequest(pod, resource, Missing(resource));
}

// Returns what NodeResourcesFit counts for a pod on a node. If the pod has
// requests as a whole, nothing is added to a resource that any part of the pod
// requests.
Quantity ScoredRequestOnNode(const Pod& pod, const std::string& resource) {
  const bool fills_in =
      pod.spec.resources.requests.empty() || !ModelRequests(pod, resource);
  return ModelRequest(pod, resource, fills_in ? Missing(resource) : Quantity());
}

// LeastAllocated: (cpu((capacity - requested) * 100 / capacity) +
// memory((capacity - requested) * 100 / capacity)) / weightSum, in integers. A
// resource that the node doesn't have is left out.
std::int64_t LeastAllocated(const Pod& pod, const ScoredNode& node) {
  std::int64_t sum = 0;
  std::int64_t weight_sum = 0;
  for (const char* resource : {"cpu", "memory"}) {
    const std::int64_t capacity =
        Millis(AmountOf(node.node.status.allocatable, resource));
    if (capacity == 0) continue;
    ++weight_sum;
    Quantity requested = ScoredRequestOfPending(pod, resource);
    for (const Pod* other : node.pods) {
      requested += ScoredRequestOnNode(*other, resource);
    }
    if (Millis(requested) > capacity) continue;
    sum += (capacity - Millis(requested)) * 100 / capacity;
  }
  return weight_sum == 0 ? 0 : sum / weight_sum;
}

// Returns (1 - standard deviation of the used fractions) * 100. For two
// fractions, the standard deviation is half of the difference.
std::int64_t BalanceOf(const std::vector<const Pod*>& pods, const Node& node) {
  std::vector<double> fractions;
  for (const char* resource : {"cpu", "memory"}) {
    const auto capacity = AmountOf(node.status.allocatable, resource);
    if (capacity.IsZero()) continue;
    Quantity used;
    for (const Pod* pod : pods) used += ModelRequest(*pod, resource);
    const double fraction = static_cast<double>(Millis(used)) /
                            static_cast<double>(Millis(capacity));
    fractions.push_back(fraction > 1 ? 1 : fraction);
  }
  const double deviation =
      fractions.size() < 2 ? 0 : std::fabs((fractions[0] - fractions[1]) / 2);
  return static_cast<std::int64_t>((1 - deviation) * 100);
}

// BalancedAllocation: 75 if the balance with the pod is as without it.
std::int64_t BalanceChange(const Pod& pod, const ScoredNode& node) {
  std::vector<const Pod*> with_pod = node.pods;
  with_pod.push_back(&pod);
  const std::int64_t change =
      BalanceOf(with_pod, node.node) - BalanceOf(node.pods, node.node);
  return 50 + (50 + change) / 2;
}

bool RequestsCpuOrMemory(const Pod& pod) {
  return !ModelRequest(pod, "cpu").IsZero() ||
         !ModelRequest(pod, "memory").IsZero();
}

// ImageLocality.

// The tag of an image without one is latest. A colon before a slash is that of
// a port.
std::string WithTag(const std::string& image) {
  const std::string last_part = image.substr(image.rfind('/') + 1);
  return last_part.find(':') == std::string::npos ? image + ":latest" : image;
}

// Returns the size of the image on the node, or 0.
std::int64_t SizeOnNode(const std::string& name, const Node& node) {
  for (const ContainerImage& image : node.status.images) {
    for (const std::string& other : image.names) {
      if (other == name) return image.size_bytes;
    }
  }
  return 0;
}

// Adds the sizes of the images that the node has, each multiplied by the share
// of nodes that have the image. Scales the sum from 23 MiB, which is 0, to 1000
// MiB for each image, which is 100.
std::int64_t ImageScore(const Pod& pod, const Node& node,
                        const RandomCluster& cluster) {
  std::vector<std::string> images;
  for (const auto& c : pod.spec.containers) images.push_back(c.image);
  for (const auto& c : pod.spec.init_containers) images.push_back(c.image);
  for (const auto& v : pod.spec.volumes) {
    if (v.image) images.push_back(v.image->reference);
  }
  std::int64_t sum = 0;
  for (const std::string& image : images) {
    const std::string name = WithTag(image);
    double having = 0;
    for (const auto& other : cluster.nodes) {
      if (SizeOnNode(name, *other) > 0) ++having;
    }
    const double spread = having / static_cast<double>(cluster.nodes.size());
    sum += static_cast<std::int64_t>(
        static_cast<double>(SizeOnNode(name, node)) * spread);
  }
  const std::int64_t least = 23 * kMiB;
  const std::int64_t most =
      1000 * kMiB * static_cast<std::int64_t>(images.size());
  if (sum < least) return 0;
  if (sum > most) return 100;
  return 100 * (sum - least) / (most - least);
}

// Makes the highest score 100, the others proportional.
void ScaleToHighest(std::map<std::string, ModelPoints>& nodes) {
  std::int64_t highest = 0;
  for (const auto& [node, points] : nodes) {
    highest = std::max(highest, points.raw);
  }
  if (highest == 0) return;
  for (auto& [node, points] : nodes) {
    points.normalized = points.raw * 100 / highest;
  }
}

}  // namespace

ModelScores ModelScore(const RandomCluster& cluster, const Pod& pod) {
  const auto statuses = ModelFilter(cluster, pod);
  ModelScores scores;
  for (const auto& node : cluster.nodes) {
    const std::string& name = node->metadata.name;
    if (!statuses.at(name).IsSuccess()) continue;
    ScoredNode scored{.node = *node, .pods = {}};
    for (const auto& other : cluster.pods) {
      if (other->spec.node_name == name) scored.pods.push_back(other.get());
    }
    const auto set = [&](const std::string& plugin, std::int64_t raw) {
      scores[plugin][name] = {.raw = raw, .normalized = raw};
    };
    set("TaintToleration", CountIntolerableTaints(pod, *node));
    if (HasPreference(pod)) set("NodeAffinity", SumMatchingWeights(pod, *node));
    set("NodeResourcesFit", LeastAllocated(pod, scored));
    if (RequestsCpuOrMemory(pod)) {
      set("NodeResourcesBalancedAllocation", BalanceChange(pod, scored));
    }
    set("ImageLocality", ImageScore(pod, *node, cluster));
  }
  for (auto& [plugin, nodes] : scores) {
    if (plugin == "TaintToleration" || plugin == "NodeAffinity") {
      ScaleToHighest(nodes);
    }
    for (auto& [node, p] : nodes) {
      // The fewer taints, the better.
      if (plugin == "TaintToleration") p.normalized = 100 - p.normalized;
      p.weighted = p.normalized;
      if (plugin == "TaintToleration") p.weighted *= 3;
      if (plugin == "NodeAffinity") p.weighted *= 2;
    }
  }
  return scores;
}

std::map<std::string, std::int64_t> ModelTotals(const ModelScores& scores) {
  std::map<std::string, std::int64_t> totals;
  for (const auto& [plugin, nodes] : scores) {
    for (const auto& [node, points] : nodes) totals[node] += points.weighted;
  }
  return totals;
}

}  // namespace minisched
