#pragma once

#include <string>

#include "lab/apiserver/object.h"

namespace minisched::apiserver {

// Sets a field to `value` if the client left it out. A null `value` changes
// nothing.
void SetDefault(Json& object, const std::string& key, const Json& value);

// Sets the defaults in the spec of a pod or a pod template. Sets only defaults
// that kubectl shows or that matter to a scheduler. Follows kubernetes
// pkg/apis/core/v1/defaults.go.
void SetPodSpecDefaults(Json& spec);

// Sets the defaults of a pod: those of SetPodSpecDefaults(), and those that pod
// templates do not get.
void SetPodDefaults(Json& pod);

}  // namespace minisched::apiserver
