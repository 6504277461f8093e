#pragma once

#include "cache/snapshot.h"

namespace minisched {

class SharedInformerFactory;

// The parts of the scheduler that plugins can use. Follows Handle of
// k8s.io/kube-scheduler/framework.
struct Handle {
  // All nodes in the present cycle. Must outlive the plugins.
  const Snapshot& snapshot;
  // The informers, whose stores have copies of the cluster's objects. Null only
  // in tests.
  SharedInformerFactory* informers = nullptr;
};

}  // namespace minisched
