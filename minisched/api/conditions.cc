#include "minisched/api/conditions.h"

#include <algorithm>
#include <utility>

namespace minisched {

const Condition* FindCondition(const std::vector<Condition>& conditions,
                               std::string_view type) {
  const auto found =
      std::find_if(conditions.begin(), conditions.end(),
                   [&](const auto& c) { return c.type == type; });
  return found == conditions.end() ? nullptr : &*found;
}

bool UpdateCondition(std::vector<Condition>& conditions, Condition condition,
                     Time now) {
  const auto old =
      std::find_if(conditions.begin(), conditions.end(),
                   [&](const auto& c) { return c.type == condition.type; });
  condition.last_transition_time = now;
  if (old == conditions.end()) {
    conditions.push_back(std::move(condition));
    return true;
  }
  const bool same_status = old->status == condition.status;
  if (same_status) condition.last_transition_time = old->last_transition_time;
  const bool changed = !same_status || old->reason != condition.reason ||
                       old->message != condition.message;
  *old = std::move(condition);
  return changed;
}

}  // namespace minisched
