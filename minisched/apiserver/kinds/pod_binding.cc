#include "minisched/apiserver/kinds/pod_binding.h"

#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/kinds/pods.h"
#include "minisched/apiserver/resources.h"

namespace minisched::apiserver {
namespace {

// Upstream forgets to make a 422 of these.
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

// Why the pod can't have a node; "" if it can.
std::string WhyNot(const Json& pod) {
  const std::string node = GetString(pod, "spec", "nodeName");
  if (IsTerminating(pod)) {
    return "pod " + NameOf(pod) +
           " is being deleted, cannot be assigned to a host";
  }
  if (!node.empty()) {
    return "pod " + NameOf(pod) + " is already assigned to node " +
           Json(node).dump();
  }
  if (!Get(pod, "spec", "schedulingGates").empty()) {
    return "pod " + NameOf(pod) + " has non-empty .spec.schedulingGates";
  }
  return "";
}

}  // namespace

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
  if (const std::string why = WhyNot(pod); !why.empty()) {
    ResourceRow row = pods;
    row.plural = "pods/binding";  // is what upstream calls it here
    throw Conflict(row, name, why);
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
  // Not an update: binding doesn't change the pod's generation.
  if (!dry_run) registry.store().Put(CollectionOf(pods), std::move(pod));
}

}  // namespace minisched::apiserver
