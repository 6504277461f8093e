#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "lab/explain/answer.h"
#include "lab/explain/pod_rules.h"
#include "lab/explain/spread_rules.h"
#include "minisched/api/node.h"

namespace minisched::explain {

// Return changes that may make the node fit the rules about other pods, each
// with its sort. `pod` is the pod as the server returned it.

using SortedChange = std::pair<std::string, Change>;

std::vector<SortedChange> PodRuleChanges(const nlohmann::json& pod,
                                         const PodRules& rules,
                                         const Node& node);
std::vector<SortedChange> SpreadChanges(const nlohmann::json& pod,
                                        const SpreadRules& rules,
                                        const Node& node);

}  // namespace minisched::explain
