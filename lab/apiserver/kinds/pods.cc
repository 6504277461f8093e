#include "lab/apiserver/kinds/pods.h"

#include <fmt/format.h>

#include "lab/apiserver/errors.h"
#include "lab/apiserver/limits.h"
#include "lab/apiserver/resources.h"
#include "lab/apiserver/store.h"

namespace minisched::apiserver {
namespace {

// Validates the Binding's target. Throws StatusError (500), as upstream does.
void CheckTarget(const Json& target) {
  const std::string kind = GetString(target, "kind");
  if (!kind.empty() && kind != "Node") {
    throw StatusError(500, "",
                      "target.kind: Unsupported value: " + Dump(kind) +
                          R"(: supported values: "Node", "<empty>")");
  }
  if (GetString(target, "name").empty()) {
    throw StatusError(500, "", "target.name: Required value");
  }
}

// Returns why the pod can't be bound, or "" if it can.
std::string BindConflict(const Json& pod) {
  const std::string node = GetString(pod, "spec", "nodeName");
  if (IsTerminating(pod)) {
    return "is being deleted, cannot be assigned to a host";
  }
  if (!node.empty()) {
    return fmt::format(R"(is already assigned to node "{}")", node);
  }
  const bool gated = !Get(pod, "spec", "schedulingGates").empty();
  return gated ? "has non-empty .spec.schedulingGates" : "";
}

}  // namespace

void SetPodCondition(Json& pod, const std::string& type,
                     const std::string& status, const std::string& reason,
                     const std::string& message, const std::string& now) {
  Json condition = {
      {"type", type}, {"status", status}, {"lastProbeTime", nullptr}};
  if (!reason.empty()) condition["reason"] = reason;
  if (!message.empty()) condition["message"] = message;
  SetCondition(pod["status"]["conditions"], std::move(condition), now);
}

bool IsPodReady(const Json& pod) {
  const Json& ready = FindBy(Get(pod, "status", "conditions"), "type", "Ready");
  return Get(ready, "status") == "True";
}

bool HasEnded(const Json& pod) {
  const Json& phase = Get(pod, "status", "phase");
  return phase == "Succeeded" || phase == "Failed";
}

void CopyTopologyLabels(Json& pod, const Store& store) {
  const Object node =
      store.Find("nodes", {"", GetString(pod, "spec", "nodeName")});
  if (!node) return;
  for (const auto* key :
       {"topology.kubernetes.io/region", "topology.kubernetes.io/zone"}) {
    const Json& value = Get(*node, "metadata", "labels", key);
    if (!value.is_null()) pod["metadata"]["labels"][key] = value;
  }
}

void BindPod(Registry& registry, const std::string& ns, const std::string& name,
             const Json& binding, bool dry_run) {
  if (NameOf(binding) != name) {
    throw BadRequest("name in URL does not match name in Binding object");
  }
  CheckTarget(Get(binding, "target"));
  const ResourceRow& pods = GetResource("", "pods");
  Json pod = *registry.Get(pods, ns, name);
  CheckPreconditions(
      pods, pod,
      {.uid = UidOf(binding),
       .resource_version = GetString(binding, "metadata", "resourceVersion")});
  if (const std::string why = BindConflict(pod); !why.empty()) {
    ResourceRow row = pods;
    row.plural = "pods/binding";  // upstream's name for the resource here
    throw Conflict(row, name, fmt::format("pod {} {}", name, why));
  }

  pod["spec"]["nodeName"] = binding["target"]["name"];
  pod["status"].erase("nominatedNodeName");
  for (const auto* key : {"annotations", "labels"}) {
    const Json& added = Get(binding, "metadata", key);
    if (!added.empty()) pod["metadata"][key].update(added);
  }
  if (Get(binding, "target", "kind") == "Node") {
    CopyTopologyLabels(pod, registry.store());
  }
  SetPodCondition(pod, "PodScheduled", "True", "", "", registry.Now());
  CheckLimits(pod);
  // Uses Put(), because Update() would increment the pod's generation.
  if (!dry_run) registry.store().Put(CollectionOf(pods), std::move(pod));
}

}  // namespace minisched::apiserver
