#pragma once

#include "minisched/api/api_resource.h"
#include "minisched/api/labels.h"
#include "minisched/api/meta.h"

namespace minisched {

struct ServiceSpec {
  // The labels of the service's pods, in its namespace. Empty: the service
  // selects no pods.
  Labels selector;
};

// A name for the pods that offer the same service.
struct Service {
  static constexpr ApiResource kResource{"", "v1", "services", "Service", true};

  ObjectMeta metadata;
  ServiceSpec spec;
};

}  // namespace minisched
