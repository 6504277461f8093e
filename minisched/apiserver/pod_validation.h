#pragma once

#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/validation.h"

namespace minisched::apiserver {

// What is wrong with the spec of a pod, or of a template for pods. Knows what
// matters to who schedules pods; what only a kubelet cares about (probes,
// security, the insides of volumes) passes. Follows kubernetes
// pkg/apis/core/validation/validation.go.
void ValidatePodSpec(const Field& spec, bool is_template, FieldErrors& errors);

// What is wrong with a change of a pod, of which little can be changed. In
// pod_update_validation.cc.
void ValidatePodUpdate(const Json& pod, const Json& old, FieldErrors& errors);

// The part of it that is about where a pod goes: selectors, affinity,
// tolerations, spreading, gates. In scheduling_validation.cc, as the next two.
void ValidateScheduling(const Field& spec, FieldErrors& errors);

void ValidateTolerations(const Field& tolerations, FieldErrors& errors);

// Of a node.
void ValidateTaints(const Field& taints, FieldErrors& errors);

}  // namespace minisched::apiserver
