#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "minisched/apiserver/object.h"

namespace minisched::apiserver {

// What fields of an object are where a client leaves them out. Each is named by
// the path to it, in which "[]" stands for each element of a list, and a|b for
// both fields:
//   {"containers[].livenessProbe|readinessProbe.periodSeconds", 10}
// A field of something that isn't there itself stays absent.
using Defaults = std::vector<std::pair<std::string_view, Json>>;

void ApplyDefaults(Json& object, const Defaults& defaults);

// The defaults of a pod's spec, or a template's.
void SetPodSpecDefaults(Json& spec);

// Those of a pod, which are some more. Follows kubernetes
// pkg/apis/core/v1/defaults.go.
void SetPodDefaults(Json& pod);

}  // namespace minisched::apiserver
