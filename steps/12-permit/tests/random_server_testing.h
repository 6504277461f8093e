#pragma once

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "minisched/api/node.h"
#include "minisched/api/pod.h"
#include "minisched/client/client.h"
#include "testing/embedded_server.h"
#include "tests/no_lost_pod_testing.h"

namespace minisched {

// An API server whose users make random changes to a few pods and nodes. Some
// Bindings fail, with or without an effect. Also has two markers, a gated pod
// and a node without room: an event handler that has received a change of a
// marker has received all earlier changes of pods or nodes.
class RandomServer {
 public:
  static constexpr std::string_view kMarker = "marker";

  // `fate` must outlive the server.
  RandomServer(Fate& fate, unsigned seed) : fate_(fate) {
    server_.server().SetFaults(
        fmt::format("seed: {}\nfaults:\n"
                    "- {{match: {{resource: pods/binding}}, probability: 0.1, "
                    "error: {{code: 500}}}}\n"
                    "- {{match: {{resource: pods/binding}}, probability: 0.1, "
                    "error: {{code: 500, after: true}}}}\n",
                    seed));
    CreateMarkers();
    Refresh();
  }

  Client& client() { return client_; }
  // The objects as of the last Refresh().
  const ServerObjects& objects() const { return objects_; }
  void Refresh() {
    objects_ = {};
    for (const auto& pod : client_.List<Pod>().items) {
      objects_.pods[pod->metadata.name] = pod;
    }
    for (const auto& node : client_.List<Node>().items) {
      objects_.nodes[node->metadata.name] = node;
    }
  }

  // Makes a random change and returns its name. REQUIRES: objects() are up to
  // date.
  std::string_view Change() {
    static constexpr RandomOperation<RandomServer> kOperations[] = {
        {35, "CreatePod", &RandomServer::CreatePod},
        {15, "DeletePod", &RandomServer::DeletePod},
        {5, "BeginDeletion", &RandomServer::BeginDeletion},
        {5, "EndDeletion", &RandomServer::EndDeletion},
        {10, "LabelPod", &RandomServer::LabelPod},
        {10, "Ungate", &RandomServer::Ungate},
        {10, "CreateNode", &RandomServer::CreateRandomNode},
        {5, "DeleteNode", &RandomServer::DeleteNode},
        {5, "Cordon", &RandomServer::Cordon}};
    const auto& [percent, name, run] = fate_.Choose(kOperations);
    (this->*run)();
    return name;
  }

  // Change a marker and return its new version.
  std::string ChangeMarkerPod() { return ChangeMarker<Pod>("default"); }
  std::string ChangeMarkerNode() { return ChangeMarker<Node>(""); }

  // Makes all Bindings succeed, removes the gates and the finalizers of all
  // pods, and adds a node with room for all of them.
  void RemoveObstacles() {
    server_.server().SetFaults("faults: []");
    for (const auto& [name, pod] : objects_.pods) {
      if (name == kMarker) continue;
      if (pod->metadata.deletion_timestamp) {
        RemoveFinalizers(name);
      } else if (!pod->spec.scheduling_gates.empty()) {
        RemoveGates(name);
      }
    }
    CreateNode("big", /*pods=*/1000);
  }

 private:
  static constexpr int kPods = 12;
  static constexpr int kNodes = 4;
  static inline const DeleteOptions kNow{.grace_period_seconds = 0};

  void CreatePod() {
    Pod pod;
    pod.metadata.namespace_name = "default";
    pod.metadata.name = fmt::format("pod-{}", fate_.Below(kPods));
    if (objects_.pods.contains(pod.metadata.name)) return;
    pod.spec.scheduler_name = "minisched";
    pod.spec.containers = {{.name = "c", .image = "i"}};
    pod.spec.containers[0].resources.requests["cpu"] =
        Quantity::FromValue(1 + fate_.Below(2));
    if (fate_.Below(5) == 0) pod.spec.scheduling_gates = {{.name = "g"}};
    client_.Create(pod);
  }

  // Returns the name of a random pod that satisfies the predicate, or "".
  std::string RandomPod(const std::function<bool(const Pod&)>& predicate =
                            [](const Pod&) { return true; }) {
    std::vector<std::string> names;
    for (const auto& [name, pod] : objects_.pods) {
      if (name != kMarker && predicate(*pod)) names.push_back(name);
    }
    if (names.empty()) return "";
    return names[fate_.Below(static_cast<int>(names.size()))];
  }

  void PatchPod(std::string_view name, const std::string& patch) {
    client_.Patch<Pod>("default", name, PatchType::kMerge, patch);
  }

  void DeletePod() {
    const std::string name = RandomPod();
    if (!name.empty()) client_.Delete<Pod>("default", name, kNow);
  }

  void BeginDeletion() {
    const std::string name = RandomPod(
        [](const Pod& pod) { return pod.metadata.finalizers.empty(); });
    if (name.empty()) return;
    PatchPod(name, R"({"metadata":{"finalizers":["example.com/f"]}})");
    client_.Delete<Pod>("default", name, kNow);
  }

  void EndDeletion() {
    const std::string name = RandomPod([](const Pod& pod) {
      return pod.metadata.deletion_timestamp.has_value();
    });
    if (!name.empty()) RemoveFinalizers(name);
  }

  void RemoveFinalizers(const std::string& pod) {
    PatchPod(pod, R"({"metadata":{"finalizers":null}})");
  }

  void LabelPod() {
    const std::string name = RandomPod();
    if (name.empty()) return;
    PatchPod(name, fmt::format(R"({{"metadata":{{"labels":{{"v":"{}"}}}}}})",
                               fate_.Below(1000)));
  }

  void Ungate() {
    const std::string name = RandomPod(
        [](const Pod& pod) { return !pod.spec.scheduling_gates.empty(); });
    if (!name.empty()) RemoveGates(name);
  }

  void RemoveGates(const std::string& pod) {
    PatchPod(pod, R"({"spec":{"schedulingGates":null}})");
  }

  std::string RandomNode() {
    return fmt::format("node-{}", fate_.Below(kNodes));
  }

  void CreateNode(const std::string& name, int pods) {
    Node node;
    node.metadata.name = name;
    node.status.allocatable["pods"] = Quantity::FromValue(pods);
    node.status.allocatable["cpu"] = Quantity::FromValue(pods);
    client_.Create(node);
  }

  void CreateRandomNode() {
    const std::string name = RandomNode();
    if (!objects_.nodes.contains(name)) CreateNode(name, /*pods=*/4);
  }

  void DeleteNode() {
    const std::string name = RandomNode();
    if (objects_.nodes.contains(name)) client_.Delete<Node>("", name);
  }

  void Cordon() {
    const auto node = objects_.nodes.find(RandomNode());
    if (node == objects_.nodes.end()) return;
    client_.Patch<Node>("", node->first, PatchType::kMerge,
                        fmt::format(R"({{"spec":{{"unschedulable":{}}}}})",
                                    !node->second->spec.unschedulable));
  }

  void CreateMarkers() {
    Pod pod;
    pod.metadata.namespace_name = "default";
    pod.metadata.name = kMarker;
    pod.spec.scheduler_name = "minisched";
    pod.spec.containers = {{.name = "c", .image = "i"}};
    pod.spec.scheduling_gates = {{.name = "g"}};
    client_.Create(pod);
    CreateNode(std::string(kMarker), /*pods=*/0);
  }

  template <class T>
  std::string ChangeMarker(std::string_view namespace_name) {
    const auto marker = client_.Patch<T>(
        namespace_name, kMarker, PatchType::kMerge,
        fmt::format(R"({{"metadata":{{"annotations":{{"v":"{}"}}}}}})",
                    ++marker_version_));
    return marker->metadata.resource_version;
  }

  Fate& fate_;
  EmbeddedServer server_;
  Client client_{server_.config()};
  ServerObjects objects_;
  int marker_version_ = 0;
};

}  // namespace minisched
