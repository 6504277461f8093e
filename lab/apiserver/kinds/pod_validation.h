#pragma once

#include "lab/apiserver/kinds/validation.h"

namespace minisched::apiserver {

// What is wrong with the spec of a pod, or of a template for pods. Knows what
// matters to who schedules pods; what only a kubelet cares about (volumes,
// probes, security) passes. Follows kubernetes
// pkg/apis/core/validation/validation.go.
void ValidatePodSpec(const Field& spec);

// What is wrong with a change of a pod's spec, of which little can be changed.
// In pod_update_validation.cc.
void ValidatePodUpdate(const Field& spec, const Json& old);

// The part of it that is about where a pod goes: selectors, affinity,
// tolerations, spreading, gates. In scheduling_validation.cc, as the next.
void ValidateScheduling(const Field& spec);

// Of a node.
void ValidateTaints(const Field& taints);

}  // namespace minisched::apiserver
