#pragma once

#include "snapshot.h"

namespace minisched {

// What plugins can use of the scheduler. Follows Handle of
// k8s.io/kube-scheduler/framework.
struct Handle {
  // The nodes of the present cycle. Must outlive the plugins.
  const Snapshot& snapshot;
};

}  // namespace minisched
