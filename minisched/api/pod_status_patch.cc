#include "minisched/api/pod_status_patch.h"

#include "minisched/api/codec.h"

namespace minisched {

std::string ToJson(const PodStatusPatch& patch) {
  nlohmann::json document = nlohmann::json::object();
  if (!patch.resource_version.empty()) {
    document["metadata"]["resourceVersion"] = patch.resource_version;
  }
  nlohmann::json& status = document["status"];
  status = nlohmann::json::object();
  if (patch.condition) {
    Write(status["conditions"].emplace_back(), *patch.condition);
  }
  if (patch.nominated_node_name) {
    nlohmann::json& name = status["nominatedNodeName"];  // null
    if (!patch.nominated_node_name->empty()) name = *patch.nominated_node_name;
  }
  return document.dump();
}

}  // namespace minisched
