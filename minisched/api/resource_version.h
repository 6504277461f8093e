#pragma once

#include "minisched/api/meta.h"

namespace minisched {

// Returns true if `a` is an older version of the object than `b`. The versions
// of an object are growing numbers. Follows CompareResourceVersion of
// apimachinery pkg/util/resourceversion.
bool IsOlderVersion(const ObjectMeta& a, const ObjectMeta& b);

}  // namespace minisched
