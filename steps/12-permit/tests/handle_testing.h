#pragma once

#include "framework/handle.h"
#include "framework/waiting_pods.h"
#include "minisched/base/executor.h"
#include "minisched/base/fake_clock.h"
#include "minisched/client/client.h"

namespace minisched {

// The parts of handles that tests don't name. All tests share them, and no
// server is behind the client.
struct UnusedParts {
  FakeClock clock;
  Client client{{.server = "http://127.0.0.1:1"}, clock};
  Executor executor{1, clock};
  WaitingPods waiting_pods{executor};
};

inline UnusedParts& Unused() {
  static UnusedParts parts;
  return parts;
}

// The parts of a handle besides the snapshot. A test names those that it uses.
struct HandleParts {
  Client& client = Unused().client;
  WaitingPods& waiting_pods = Unused().waiting_pods;
  Executor& executor = Unused().executor;
};

// Returns the handle of a plugin in a test.
inline Handle NewHandle(const Snapshot& snapshot,
                        const HandleParts& parts = {}) {
  return {.snapshot = snapshot,
          .client = parts.client,
          .waiting_pods = parts.waiting_pods,
          .executor = parts.executor};
}

}  // namespace minisched
