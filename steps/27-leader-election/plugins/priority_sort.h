#pragma once

#include "framework/plugin.h"

namespace minisched {

// Orders pods by priority, the highest first. Orders pods of the same priority
// by their timestamp, the oldest first. Follows plugins/queuesort.
class PrioritySort final : public QueueSortPlugin {
 public:
  std::string_view Name() const override { return "PrioritySort"; }
  bool Less(const QueuedPodInfo& a, const QueuedPodInfo& b) const override {
    const std::int32_t priority_a = a.pod->spec.priority.value_or(0);
    const std::int32_t priority_b = b.pod->spec.priority.value_or(0);
    if (priority_a != priority_b) return priority_a > priority_b;
    return a.timestamp < b.timestamp;
  }
};

}  // namespace minisched
