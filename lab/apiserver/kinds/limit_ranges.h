#pragma once

#include <string>

#include "lab/apiserver/object.h"
#include "lab/apiserver/store.h"

namespace minisched::apiserver {

// Follow kubernetes plugin/pkg/admission/limitranger, for pods.

// Sets the requests and limits that containers lack to the defaults of the
// namespace's LimitRanges.
void SetLimitRangeDefaults(Json& pod, const Store& store);

// Returns why a LimitRange of the namespace forbids the pod, or "".
std::string LimitRangeViolation(const Json& pod, const Store& store);

}  // namespace minisched::apiserver
