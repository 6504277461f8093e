#include "lab/benchmark/large_cluster.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

namespace minisched {
namespace {

constexpr int kPodsPerNode = 10;
constexpr int kImagesPerNode = 16;
constexpr int kImages = 40;
constexpr std::int64_t kMebibyte = 1024LL * 1024;
constexpr char kZone[] = "topology.kubernetes.io/zone";
constexpr char kInstanceType[] = "node.kubernetes.io/instance-type";

Quantity Mebibytes(std::int64_t mebibytes) {
  return Quantity::FromValue(mebibytes * kMebibyte,
                             Quantity::Format::kBinarySI);
}

std::string ImageName(int number) {
  return fmt::format("registry.example.com/team/service-{}:v1", number);
}

ContainerImage NewImage(int number) {
  return {.names = {ImageName(number),
                    fmt::format("registry.example.com/team/service-{}"
                                "@sha256:{:064x}",
                                number, number)},
          .size_bytes = (50 + 20 * number) * kMebibyte};
}

// Real names are as long as this, too long for std::string's inner buffer.
std::string NodeName(int number) {
  return fmt::format("worker-{:05}.eu-west-1.compute.internal", number);
}

Node NewNode(int number) {
  Node node;
  node.metadata.name = NodeName(number);
  node.metadata.uid = fmt::format("00000000-0000-4000-8000-{:012}", number);
  node.metadata.resource_version = "1";
  node.metadata.labels = {{"kubernetes.io/arch", "amd64"},
                          {"kubernetes.io/hostname", node.metadata.name},
                          {"kubernetes.io/os", "linux"},
                          {kInstanceType, number % 4 == 0 ? "large" : "medium"},
                          {kZone, fmt::format("zone-{}", number % 3)}};
  ResourceList& allocatable = node.status.allocatable;
  allocatable = {{"cpu", Quantity::FromValue(16)},
                 {"ephemeral-storage", Quantity::Parse("100Gi")},
                 {"memory", Quantity::Parse("64Gi")},
                 {"pods", Quantity::FromValue(110)}};
  if (number % 10 == 1) {
    allocatable["example.com/gpu"] = Quantity::FromValue(4);
    node.spec.taints.push_back(
        {.key = "gpu", .value = "present", .effect = "NoSchedule"});
  }
  if (number % 10 == 2) {
    node.spec.taints.push_back({.key = "spot", .effect = "PreferNoSchedule"});
  }
  node.spec.unschedulable = number % 50 == 3;
  for (int image = 0; image < kImagesPerNode; ++image) {
    node.status.images.push_back(NewImage((number * 7 + image) % kImages));
  }
  return node;
}

// `cpu` is in millicores, `memory` in mebibytes.
Pod NewPod(std::string name, int image, int cpu, int memory) {
  Pod pod;
  pod.metadata.namespace_name = "default";
  pod.metadata.uid = "uid-of-the-pod-with-the-name-" + name;
  pod.metadata.name = std::move(name);
  pod.metadata.resource_version = "1";
  pod.metadata.labels = {{"app", fmt::format("service-{}", image)}};
  pod.spec.scheduler_name = "minisched";
  Container& container = pod.spec.containers.emplace_back();
  container.name = "main";
  container.image = ImageName(image);
  container.resources.requests = {{"cpu", Quantity::FromMilli(cpu)},
                                  {"memory", Mebibytes(memory)}};
  return pod;
}

void AddHostPort(Pod& pod) {
  pod.spec.containers.front().ports.push_back(
      {.container_port = 8080, .host_port = 8080, .protocol = "TCP"});
}

// The requests differ, with averages of 800m and 3200 MiB.
Pod NewPodOn(int node, int number) {
  const int units = (node + number) % 5;  // 0 to 4, each twice on a node
  Pod pod = NewPod(fmt::format("service-{}-{}", node, number),
                   (node * 3 + number) % kImages, 600 + 100 * units,
                   2400 + 400 * units);
  pod.spec.node_name = NodeName(node);
  pod.status.phase = "Running";
  if (number == 0 && node % 5 == 0) AddHostPort(pod);
  return pod;
}

}  // namespace

LargeCluster NewLargeCluster(int nodes) {
  LargeCluster cluster;
  for (int node = 0; node < nodes; ++node) {
    cluster.nodes.push_back(NewNode(node));
    for (int pod = 0; pod < kPodsPerNode; ++pod) {
      cluster.pods.push_back(NewPodOn(node, pod));
    }
  }
  return cluster;
}

Pod NewPlainPod() { return NewPod("plain", 0, 500, 1024); }

Pod NewDemandingPod() {
  Pod pod = NewPod("demanding", 0, 500, 1024);
  AddHostPort(pod);
  pod.spec.tolerations = {
      {.key = "gpu", .operation = "Exists", .effect = "NoSchedule"}};
  Affinity::NodeAffinity& affinity = pod.spec.affinity.node_affinity;
  affinity.required.emplace().node_selector_terms = {
      {.match_expressions = {
           {.key = kZone, .op = "In", .values = {"zone-0", "zone-1"}}}}};
  affinity.preferred = {
      {.weight = 10,
       .preference = {
           .match_expressions = {
               {.key = kInstanceType, .op = "In", .values = {"large"}}}}}};
  return pod;
}

}  // namespace minisched
