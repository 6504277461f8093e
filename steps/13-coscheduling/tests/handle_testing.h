#pragma once

#include <functional>
#include <vector>

#include "cache/pod_groups.h"
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
  PodGroups pod_groups{clock};
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
  PodGroups& pod_groups = Unused().pod_groups;
  std::function<void(const std::vector<PodPtr>&)> activate =
      [](const auto& /*pods*/) {};
};

// Returns the handle of a plugin in a test.
inline Handle NewHandle(const Snapshot& snapshot,
                        const HandleParts& parts = {}) {
  return {.snapshot = snapshot,
          .client = parts.client,
          .waiting_pods = parts.waiting_pods,
          .executor = parts.executor,
          .pod_groups = parts.pod_groups,
          .activate = parts.activate};
}

}  // namespace minisched
