#pragma once

#include <string>

#include "lab/apiserver/object.h"

namespace minisched::apiserver {

// Sets a field to `value` if the client left it out. A null `value` changes
// nothing.
void SetDefault(Json& object, const std::string& key, const Json& value);

// Sets the defaults of a pod's or template's spec that kubectl shows or that
// matter to a scheduler. Follows kubernetes pkg/apis/core/v1/defaults.go.
void SetPodSpecDefaults(Json& spec);

// Sets the defaults of a pod: those of its spec and a few more.
void SetPodDefaults(Json& pod);

}  // namespace minisched::apiserver
