#include "lab/explain/daemon_sets.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "lab/apiserver/object.h"
#include "lab/explain/causes.h"
#include "lab/explain/pod_changes.h"
#include "minisched/api/document.h"

namespace minisched::explain {
namespace {

using apiserver::FindBy;
using apiserver::Get;
using apiserver::GetBool;
using apiserver::GetString;
using apiserver::Json;
using apiserver::NameOf;
using apiserver::NamespaceOf;

// The pods of DaemonSets, by the namespaces and names of the DaemonSets.
using PodsOfDaemonSets = std::map<std::pair<std::string, std::string>, Json>;

Json PodOf(const Json& daemon_set) {
  Json pod = Get(daemon_set, "spec", "template");
  pod["metadata"]["namespace"] = NamespaceOf(daemon_set);
  AddDaemonTolerations(pod["spec"]);
  return pod;
}

PodsOfDaemonSets ReadPodsOfDaemonSets(apiserver::Server& server) {
  PodsOfDaemonSets pods;
  server.ForEach("daemonsets.apps", [&](const Json& daemon_set) {
    pods[{NamespaceOf(daemon_set), NameOf(daemon_set)}] = PodOf(daemon_set);
  });
  server.ForEach("pods", [&](const Json& pod) {
    const Json& owner =
        FindBy(Get(pod, "metadata", "ownerReferences"), "kind", "DaemonSet");
    if (owner.is_null() || GetString(pod, "spec", "nodeName").empty()) return;
    const auto [found, is_new] =
        pods.try_emplace({NamespaceOf(pod), GetString(owner, "name")}, pod);
    if (!is_new) return;
    Json& spec = found->second["spec"];
    spec.erase("nodeName");
    // The controller has pinned the pod to its node.
    if (spec.contains("affinity")) spec["affinity"].erase("nodeAffinity");
  });
  return pods;
}

// Returns the manifest of a pod that is bound to a node. The pod has the
// default priority: its class may be missing in the copy.
Json BoundPod(const std::string& daemon_set, const Json& pod,
              const std::string& node) {
  Json spec = pod["spec"];
  for (const char* key :
       {"priority", "preemptionPolicy", "priorityClassName"}) {
    spec.erase(key);
  }
  if (spec.contains("affinity")) spec["affinity"].erase("nodeAffinity");
  spec["nodeName"] = node;
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata",
           {{"name", daemon_set + "-" + node},
            {"namespace", NamespaceOf(pod)},
            {"labels", Get(pod, "metadata", "labels")},
            {"ownerReferences",
             {{{"apiVersion", "apps/v1"},
               {"kind", "DaemonSet"},
               {"name", daemon_set},
               {"uid", "of-" + daemon_set},
               {"controller", true}}}}}},
          {"spec", spec}};
}

}  // namespace

void AddDaemonTolerations(Json& spec) {
  std::vector<std::pair<std::string, std::string>> taints = {
      {"not-ready", "NoExecute"},      {"unreachable", "NoExecute"},
      {"disk-pressure", "NoSchedule"}, {"memory-pressure", "NoSchedule"},
      {"pid-pressure", "NoSchedule"},  {"unschedulable", "NoSchedule"}};
  if (GetBool(spec, "hostNetwork")) {
    taints.emplace_back("network-unavailable", "NoSchedule");
  }
  for (const auto& [key, effect] : taints) {
    spec["tolerations"].push_back({{"key", "node.kubernetes.io/" + key},
                                   {"operator", "Exists"},
                                   {"effect", effect}});
  }
}

void PinToNode(Json& spec, const std::string& node) {
  const Json name = {
      {"key", "metadata.name"}, {"operator", "In"}, {"values", {node}}};
  spec["affinity"]["nodeAffinity"][kRequired]["nodeSelectorTerms"] =
      Json::array({{{"matchFields", Json::array({name})}}});
}

bool ShouldRun(const Pod& pod, const Node& node) {
  const std::string& name = pod.spec.node_name;
  return (name.empty() || name == node.metadata.name) &&
         UnmatchedLabels(pod, node).empty() &&
         MatchesRequiredTerms(pod, node) &&
         UntoleratedTaints(pod, node).empty();
}

std::vector<Json> DaemonPodsFor(const Json& node, apiserver::Server& server) {
  const Node typed = FromDocument<Node>(node);
  std::vector<Json> pods;
  for (auto& [name, pod] : ReadPodsOfDaemonSets(server)) {
    if (!ShouldRun(FromDocument<Pod>(pod), typed)) continue;
    pods.push_back(BoundPod(name.second, pod, NameOf(node)));
  }
  return pods;
}

bool ComesBack(const ObjectMeta& pod) {
  return std::ranges::any_of(
      pod.owner_references, [](const OwnerReference& owner) {
        return owner.controller &&
               (owner.kind == "DaemonSet" || owner.kind == "Node");
      });
}

}  // namespace minisched::explain
