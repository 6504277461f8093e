#pragma once

#include "minisched/api/api_resource.h"
#include "minisched/api/labels.h"
#include "minisched/api/meta.h"

namespace minisched {

// Kinds that own pods: their controllers create pods, with an OwnerReference
// to the object, until there are as many as the object demands.

struct ReplicationControllerSpec {
  Labels selector;  // the labels of the pods
};

struct ReplicationController {
  static constexpr ApiResource kResource{"", "v1", "replicationcontrollers",
                                         "ReplicationController", true};

  ObjectMeta metadata;
  ReplicationControllerSpec spec;
};

struct ReplicaSetSpec {
  LabelSelector selector;
};

// A Deployment has a ReplicaSet for each version of its pods.
struct ReplicaSet {
  static constexpr ApiResource kResource{"apps", "v1", "replicasets",
                                         "ReplicaSet", true};

  ObjectMeta metadata;
  ReplicaSetSpec spec;
};

struct StatefulSetSpec {
  LabelSelector selector;
};

struct StatefulSet {
  static constexpr ApiResource kResource{"apps", "v1", "statefulsets",
                                         "StatefulSet", true};

  ObjectMeta metadata;
  StatefulSetSpec spec;
};

}  // namespace minisched
