#include "minisched/apiserver/kinds/pods.h"

#include "minisched/apiserver/store.h"

namespace minisched::apiserver {

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

}  // namespace minisched::apiserver
