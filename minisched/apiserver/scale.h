#pragma once

#include "minisched/apiserver/object.h"

namespace minisched::apiserver {

// The scale subresource of whatever has spec.replicas: a view of the object as
// an autoscaling/v1 Scale, and the object with what a Scale asks for.
Json ScaleOf(const Json& object);
// Throws StatusError (422) where the number of replicas is negative.
Json WithScale(const Json& object, const Json& scale);

}  // namespace minisched::apiserver
