#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cache/pod_groups.h"
#include "framework/queued_pod_info.h"
#include "minisched/api/pod.h"

// Helpers for tests of groups of pods.

namespace minisched {

inline constexpr char kGroupName[] = "pod-group.scheduling.sigs.k8s.io/name";
inline constexpr char kGroupMin[] =
    "pod-group.scheduling.sigs.k8s.io/min-available";

// Returns a pod without a group. Its uid is its name.
inline Pod UngroupedPod(const std::string& name, std::int32_t priority = 0) {
  Pod pod;
  pod.metadata.namespace_name = "default";
  pod.metadata.name = name;
  pod.metadata.uid = name;
  pod.metadata.resource_version = "1";
  pod.spec.scheduler_name = "minisched";
  pod.spec.priority = priority;
  return pod;
}

// Returns a member of a group, whose uid is its name.
inline Pod GroupMember(const std::string& name, const std::string& group,
                       const std::string& min_available = "4",
                       std::int32_t priority = 0) {
  Pod pod = UngroupedPod(name, priority);
  pod.metadata.labels = {{kGroupName, group}, {kGroupMin, min_available}};
  return pod;
}

inline PodPtr Shared(Pod pod) {
  return std::make_shared<const Pod>(std::move(pod));
}

// Returns the names of the pods, sorted.
inline std::vector<std::string> NamesOfPods(const std::vector<PodPtr>& pods) {
  std::vector<std::string> names;
  for (const PodPtr& pod : pods) names.push_back(pod->metadata.name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace minisched
