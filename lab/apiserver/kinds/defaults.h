#pragma once

#include <string>

#include "lab/apiserver/object.h"

namespace minisched::apiserver {

// Gives a field a value, unless that is null, where a client has left it out.
void SetDefault(Json& object, const std::string& key, const Json& value);

// The defaults of a pod's spec, or a template's, as far as they are shown or
// matter to who schedules pods. Follows kubernetes
// pkg/apis/core/v1/defaults.go.
void SetPodSpecDefaults(Json& spec);

// Those of a pod, which are some more.
void SetPodDefaults(Json& pod);

}  // namespace minisched::apiserver
