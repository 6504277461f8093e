#pragma once

#include <optional>
#include <string>

#include "minisched/api/meta.h"

namespace minisched {

// The body of a strategic merge PATCH of a pod's status.
struct PodStatusPatch {
  // The PATCH fails if the pod has another version. Empty: it doesn't matter.
  std::string resource_version;
  // The server merges conditions by type, so only this condition changes.
  std::optional<Condition> condition;
  // Unset: the field stays. Empty: the PATCH has a null, which removes it.
  std::optional<std::string> nominated_node_name;
};

std::string ToJson(const PodStatusPatch& patch);

}  // namespace minisched
