#pragma once

#include "framework/handle.h"

namespace minisched {

// Returns the handle of a plugin in a test.
inline Handle NewHandle(const Snapshot& snapshot) {
  return {.snapshot = snapshot};
}

}  // namespace minisched
