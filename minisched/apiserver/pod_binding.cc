#include "minisched/apiserver/pod_binding.h"

#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/pods.h"
#include "minisched/apiserver/resources.h"

namespace minisched::apiserver {
namespace {

// Upstream forgets to make a 422 of these.
void CheckBinding(const Json& binding) {
  std::string errors;
  const auto add = [&](const std::string& error) {
    errors += (errors.empty() ? "" : ", ") + error;
  };
  const std::string kind = GetString(binding, "target", "kind");
  const bool bad_kind = !kind.empty() && kind != "Node";
  const bool nameless = GetString(binding, "target", "name").empty();
  if (bad_kind) {
    add("target.kind: Unsupported value: " + Json(kind).dump() +
        R"(: supported values: "Node", "<empty>")");
  }
  if (nameless) add("target.name: Required value");
  if (errors.empty()) return;
  throw StatusError(500, "",
                    bad_kind && nameless ? "[" + errors + "]" : errors);
}

void CheckPreconditions(const Json& pod, const Json& binding) {
  const auto check = [&](const std::string& field, const std::string& what) {
    const std::string wanted = GetString(binding, "metadata", field);
    const std::string there = GetString(pod, "metadata", field);
    if (wanted.empty() || wanted == there) return;
    throw Conflict(
        GetResource("", "pods"), NameOf(pod),
        "StorageError: invalid object, Code: 4, Key: /registry/pods/" +
            NamespaceOf(pod) + "/" + NameOf(pod) +
            ", ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: " +
            what + " in precondition: " + wanted + ", " + what +
            " in object meta: " + there);
  };
  check("uid", "UID");
  check("resourceVersion", "ResourceVersion");
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
  CheckBinding(binding);
  const ResourceRow& pods = GetResource("", "pods");
  Json pod = *registry.Get(pods, ns, name);
  CheckPreconditions(pod, binding);
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
