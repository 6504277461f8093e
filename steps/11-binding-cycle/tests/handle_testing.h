#pragma once

#include "framework/handle.h"
#include "minisched/base/fake_clock.h"
#include "minisched/client/client.h"

namespace minisched {

// The parts of handles that tests don't name. All tests share them, and no
// server is behind the client.
struct UnusedParts {
  FakeClock clock;
  Client client{{.server = "http://127.0.0.1:1"}, clock};
};

inline UnusedParts& Unused() {
  static UnusedParts parts;
  return parts;
}

// The parts of a handle besides the snapshot. A test names those that it uses.
struct HandleParts {
  Client& client = Unused().client;
};

// Returns the handle of a plugin in a test.
inline Handle NewHandle(const Snapshot& snapshot,
                        const HandleParts& parts = {}) {
  return {.snapshot = snapshot, .client = parts.client};
}

}  // namespace minisched
