#include "tests/random_cluster_testing.h"

#include <fmt/format.h>

#include <cstdlib>
#include <initializer_list>
#include <random>

#include "minisched/api/json.h"

namespace minisched {
namespace {

constexpr std::int64_t kMebibyte = 1024 * 1024;

// Returns an amount of memory in units of 64 MiB. Scores assume 200 MiB for a
// container without a request, so that bytes would be too small.
Quantity Memory(int units) {
  return Quantity::FromValue(units * 64 * kMebibyte);
}

struct DrawnImage {
  const char* name;
  std::int64_t mebibytes;
};
// From less than what counts in scores to more.
constexpr DrawnImage kDrawnImages[] = {{"web:latest", 20},
                                       {"registry:5000/db:latest", 300},
                                       {"tools:v2", 900},
                                       {"models:v1", 5000}};

class ClusterDrawer {
 public:
  explicit ClusterDrawer(std::uint64_t seed) : random_(seed) {}

  RandomCluster Draw();

 private:
  int Between(int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random_);
  }
  bool Chance(int percent) { return Between(1, 100) <= percent; }
  std::string Pick(std::initializer_list<const char*> choices) {
    return choices.begin()[Between(0, static_cast<int>(choices.size()) - 1)];
  }
  std::string NodeName() { return fmt::format("node-{}", Between(1, 9)); }

  Node DrawNode(const std::string& name);
  std::vector<ContainerImage> DrawImages();
  std::string DrawImageName();
  ResourceList DrawAllocatable();
  Taint DrawTaint();

  Pod DrawPod(const std::string& name);
  Container DrawContainer(const std::string& name);
  ResourceList DrawRequests();
  // Adds a status as of a pod that is resized in place.
  void Resize(Pod& pod);
  ContainerStatus DrawStatus(const Container& container);

  // Adds requirements that limit the nodes that a pending pod fits.
  void DrawDemands(PodSpec& spec);
  // What a pending pod tolerates and prefers.
  void DrawWishes(PodSpec& spec);
  Toleration DrawToleration();
  NodeSelectorTerm DrawTerm();
  NodeSelectorTerm DrawPreference();
  NodeSelectorRequirement DrawExpression();
  NodeSelectorRequirement DrawField();

  std::mt19937_64 random_;
};

RandomCluster ClusterDrawer::Draw() {
  RandomCluster cluster;
  const int nodes = Between(1, 8);
  for (int n = 1; n <= nodes; ++n) {
    const auto name = fmt::format("node-{}", n);
    cluster.nodes.push_back(std::make_shared<const Node>(DrawNode(name)));
    const int pods = Between(0, 3);
    for (int p = 1; p <= pods; ++p) {
      Pod pod = DrawPod(fmt::format("{}-pod-{}", name, p));
      pod.spec.node_name = name;
      if (Chance(25)) Resize(pod);
      cluster.pods.push_back(std::make_shared<const Pod>(std::move(pod)));
    }
  }
  for (const char* name : {"web-1", "web-2", "web-3"}) {
    Pod pod = DrawPod(name);
    DrawDemands(pod.spec);
    DrawWishes(pod.spec);
    cluster.pending.push_back(std::make_shared<const Pod>(std::move(pod)));
  }
  // These fit more nodes, among which the scheduler has to choose.
  for (const char* name : {"easy-1", "easy-2", "easy-3"}) {
    Pod pod = DrawPod(name);
    DrawWishes(pod.spec);
    cluster.pending.push_back(std::make_shared<const Pod>(std::move(pod)));
  }
  return cluster;
}

Node ClusterDrawer::DrawNode(const std::string& name) {
  Node node;
  node.metadata.name = name;
  node.metadata.uid = name;
  node.metadata.resource_version = "1";
  Labels& labels = node.metadata.labels;
  if (Chance(70)) labels["zone"] = Pick({"a", "b", "c"});
  if (Chance(50)) labels["disk"] = Pick({"ssd", "hdd", ""});
  if (Chance(60)) labels["cores"] = Pick({"1", "05", "10", "many"});
  node.spec.unschedulable = Chance(10);
  for (int i = Between(-2, 2); i > 0; --i) {
    node.spec.taints.push_back(DrawTaint());
  }
  for (int i = Between(-2, 3); i > 0; --i) {
    node.spec.taints.push_back(
        {.key = Pick({"gpu", "team"}), .effect = "PreferNoSchedule"});
  }
  if (Chance(95)) node.status.allocatable = DrawAllocatable();
  node.status.images = DrawImages();
  return node;
}

std::vector<ContainerImage> ClusterDrawer::DrawImages() {
  std::vector<ContainerImage> images;
  for (const auto& [name, mebibytes] : kDrawnImages) {
    if (Chance(60)) continue;
    images.push_back({.names = {name, fmt::format("mirror/{}", name)},
                      .size_bytes = mebibytes * kMebibyte});
  }
  return images;
}

std::string ClusterDrawer::DrawImageName() {
  return Pick({"web", "web:latest", "registry:5000/db", "mirror/tools:v2",
               "tools:v2", "models:v1", "models"});
}

ResourceList ClusterDrawer::DrawAllocatable() {
  ResourceList list;
  list["pods"] = Quantity::FromValue(Between(1, 12));
  if (Chance(90)) list["cpu"] = Quantity::FromMilli(Between(1, 32) * 250);
  if (Chance(90)) list["memory"] = Memory(Between(1, 64));
  if (Chance(60))
    list["ephemeral-storage"] = Quantity::FromValue(Between(0, 9));
  if (Chance(50)) list["example.com/gpu"] = Quantity::FromValue(Between(0, 4));
  if (Chance(50)) list["hugepages-2Mi"] = Quantity::FromValue(Between(0, 4));
  return list;
}

Taint ClusterDrawer::DrawTaint() {
  return {.key = Pick({"gpu", "team"}),
          .value = Pick({"", "x", "y"}),
          .effect = Pick({"NoSchedule", "NoExecute", "PreferNoSchedule"})};
}

Pod ClusterDrawer::DrawPod(const std::string& name) {
  Pod pod;
  pod.metadata.namespace_name = "default";
  pod.metadata.name = name;
  pod.metadata.uid = name;
  pod.metadata.resource_version = "1";
  PodSpec& spec = pod.spec;
  spec.scheduler_name = "minisched";
  if (Chance(50)) spec.priority = Between(-1, 1) * 1000;
  for (int i = Between(1, 2); i > 0; --i) {
    spec.containers.push_back(DrawContainer(fmt::format("main-{}", i)));
  }
  for (int i = Between(-2, 3); i > 0; --i) {
    spec.init_containers.push_back(DrawContainer(fmt::format("init-{}", i)));
    if (Chance(50)) spec.init_containers.back().restart_policy = "Always";
  }
  if (Chance(15)) {
    spec.overhead["cpu"] = Quantity::FromMilli(250);
    spec.overhead["memory"] = Memory(1);
  }
  if (Chance(15)) {
    spec.resources.requests["cpu"] = Quantity::FromMilli(Between(0, 8) * 250);
  }
  if (Chance(10)) {
    spec.resources.requests["hugepages-2Mi"] = Quantity::FromValue(1);
  }
  if (Chance(10)) {
    spec.volumes.push_back(
        {.name = "files",
         .image = ImageVolumeSource{.reference = DrawImageName()}});
  }
  return pod;
}

Container ClusterDrawer::DrawContainer(const std::string& name) {
  Container container;
  container.name = name;
  container.image = DrawImageName();
  container.resources.requests = DrawRequests();
  if (Chance(15)) {
    container.ports.push_back(
        {.host_port = Between(0, 2) * 80,
         .host_ip = Pick({"", "0.0.0.0", "10.0.0.1", "10.0.0.2"}),
         .protocol = Pick({"", "TCP", "UDP"})});
  }
  return container;
}

ResourceList ClusterDrawer::DrawRequests() {
  ResourceList list;
  if (Chance(60)) list["cpu"] = Quantity::FromMilli(Between(0, 6) * 250);
  if (Chance(50)) list["memory"] = Memory(Between(0, 12));
  if (Chance(10)) {
    list["ephemeral-storage"] = Quantity::FromValue(Between(0, 4));
  }
  if (Chance(10)) list["example.com/gpu"] = Quantity::FromValue(Between(0, 2));
  if (Chance(5)) list["hugepages-2Mi"] = Quantity::FromValue(Between(0, 2));
  if (Chance(1)) list["cpu"] = Quantity::Parse("1e29");
  return list;
}

void ClusterDrawer::Resize(Pod& pod) {
  for (const Container& container : pod.spec.containers) {
    pod.status.container_statuses.push_back(DrawStatus(container));
  }
  for (const Container& container : pod.spec.init_containers) {
    pod.status.init_container_statuses.push_back(DrawStatus(container));
  }
  if (Chance(70)) {
    pod.status.resources.emplace().requests = DrawRequests();
    pod.status.allocated_resources = DrawRequests();
  }
  if (Chance(50)) {
    pod.status.conditions.push_back(
        {.type = Pick({"PodResizePending", "PodResizeInProgress"}),
         .status = "True",
         .reason = Pick({"Infeasible", "Deferred", ""})});
  }
}

ContainerStatus ClusterDrawer::DrawStatus(const Container& container) {
  ContainerStatus status;
  status.name = container.name;
  if (Chance(80)) status.resources.emplace().requests = DrawRequests();
  if (Chance(60)) status.allocated_resources = DrawRequests();
  return status;
}

void ClusterDrawer::DrawDemands(PodSpec& spec) {
  if (Chance(15)) spec.node_selector["zone"] = Pick({"a", "b", "c"});
  if (Chance(5)) spec.node_selector["disk"] = Pick({"ssd", ""});
  if (Chance(40)) {
    auto& terms =
        spec.affinity.node_affinity.required.emplace().node_selector_terms;
    for (int i = Between(0, 3); i > 0; --i) terms.push_back(DrawTerm());
  }
  if (Chance(3)) spec.resource_claims.push_back({.name = "claim"});
}

void ClusterDrawer::DrawWishes(PodSpec& spec) {
  // No pod is evicted for this one, so each pod finds the same cluster.
  spec.preemption_policy = "Never";
  for (int i = Between(-1, 2); i > 0; --i) {
    spec.tolerations.push_back(DrawToleration());
  }
  for (int i = Between(0, 3); i > 0; --i) {
    spec.affinity.node_affinity.preferred.push_back(
        {.weight = Between(1, 100), .preference = DrawPreference()});
  }
}

Toleration ClusterDrawer::DrawToleration() {
  if (Chance(10)) {
    return {.key = "node.kubernetes.io/unschedulable", .operation = "Exists"};
  }
  return {
      .key = Pick({"", "gpu", "team"}),
      .operation = Pick({"", "Equal", "Exists", "Exists"}),
      .value = Pick({"", "x"}),
      .effect = Pick({"", "", "NoSchedule", "NoExecute", "PreferNoSchedule"})};
}

NodeSelectorTerm ClusterDrawer::DrawTerm() {
  NodeSelectorTerm term;
  for (int i = Between(0, 2); i > 0; --i) {
    term.match_expressions.push_back(DrawExpression());
  }
  for (int i = Between(-1, 2); i > 0; --i) {
    term.match_fields.push_back(DrawField());
  }
  return term;
}

// Draws no malformed terms, because they fail the pod in later steps.
NodeSelectorTerm ClusterDrawer::DrawPreference() {
  NodeSelectorTerm term;
  if (Chance(60)) {
    term.match_expressions.push_back({.key = Pick({"zone", "disk"}),
                                      .op = Pick({"In", "NotIn"}),
                                      .values = {Pick({"a", "b", "ssd", ""})}});
  }
  if (Chance(20)) {
    term.match_expressions.push_back({.key = Pick({"zone", "cores"}),
                                      .op = Pick({"Exists", "DoesNotExist"})});
  }
  if (Chance(20)) {
    term.match_expressions.push_back({.key = "cores",
                                      .op = Pick({"Gt", "Lt"}),
                                      .values = {Pick({"3", "5", "9"})}});
  }
  if (Chance(10)) {
    term.match_fields.push_back({.key = "metadata.name",
                                 .op = Pick({"In", "NotIn"}),
                                 .values = {NodeName()}});
  }
  return term;
}

NodeSelectorRequirement ClusterDrawer::DrawExpression() {
  NodeSelectorRequirement expression;
  expression.key = Pick({"zone", "disk", "cores"});
  expression.op =
      Pick({"In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"});
  int values = 1;
  if (expression.op == "In" || expression.op == "NotIn") values = Between(1, 3);
  if (expression.op.ends_with("Exist") || expression.op.ends_with("Exists")) {
    values = 0;
  }
  if (Chance(5)) expression.op = "Near";
  if (Chance(5)) values = Between(0, 2);
  for (; values > 0; --values) {
    expression.values.push_back(expression.key == "cores"
                                    ? Pick({"1", "3", "5", "9", "many"})
                                    : Pick({"a", "b", "ssd", "hdd", ""}));
  }
  return expression;
}

NodeSelectorRequirement ClusterDrawer::DrawField() {
  NodeSelectorRequirement field;
  field.key = Chance(95) ? "metadata.name" : "spec.unschedulable";
  field.op = Pick({"In", "In", "In", "NotIn"});
  if (Chance(5)) field.op = "Exists";
  for (int i = Chance(95) ? 1 : Between(0, 2); i > 0; --i) {
    field.values.push_back(NodeName());
  }
  return field;
}

}  // namespace

RandomCluster DrawCluster(std::uint64_t seed) {
  return ClusterDrawer(seed).Draw();
}

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

}  // namespace minisched
