#pragma once

#include <string_view>
#include <vector>

#include "minisched/api/meta.h"

namespace minisched {

// The condition of that type, or nullptr.
const Condition* FindCondition(const std::vector<Condition>& conditions,
                               std::string_view type);

// Puts the condition in the place of the one of its type. Its transition time
// is `now`, or, where the status is what it was, that of the old one. Returns
// whether anything else than the time has changed. Follows UpdatePodCondition
// of kubernetes' pkg/api/v1/pod/util.go.
bool UpdateCondition(std::vector<Condition>& conditions, Condition condition,
                     Time now);

}  // namespace minisched
