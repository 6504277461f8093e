#pragma once

#include "lab/apiserver/kinds/validation.h"

namespace minisched::apiserver {

// Validates the spec of a pod or of a pod template. Checks the fields that
// matter to a scheduler, and ignores those that matter only to a kubelet
// (probes, security). Follows kubernetes
// pkg/apis/core/validation/validation.go.
void ValidatePodSpec(const Field& spec);

// Validates a change of a pod's spec from `old` to `spec`. Only a few fields
// may change. Defined in pod_update_validation.cc.
void ValidatePodUpdate(const Field& spec, const Json& old);

// Validates the fields of a spec that affect scheduling: nodeSelector,
// affinity, tolerations, topologySpreadConstraints and schedulingGates. This
// function and the next two are defined in scheduling_validation.cc.
void ValidateScheduling(const Field& spec);

// Validates a core/v1 NodeSelector, which may be absent.
void ValidateNodeSelector(const Field& selector);

// Validates a node's taints.
void ValidateTaints(const Field& taints);

}  // namespace minisched::apiserver
