#pragma once

#include <string_view>
#include <vector>

#include "minisched/api/meta.h"

namespace minisched {

// Returns the condition of that type, or nullptr.
const Condition* FindCondition(const std::vector<Condition>& conditions,
                               std::string_view type);

// Adds the condition, or replaces the one of the same type. Sets the transition
// time to `now`, or to the old one if the status is unchanged. Returns true if
// anything but the time has changed. Follows UpdatePodCondition of kubernetes'
// pkg/api/v1/pod/util.go.
bool UpdateCondition(std::vector<Condition>& conditions, Condition condition,
                     Time now);

}  // namespace minisched
