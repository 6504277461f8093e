#pragma once

#include "minisched/api/api_resource.h"
#include "minisched/api/meta.h"

namespace minisched {

// A namespace. Selectors of namespaces compare its labels.
struct Namespace {
  static constexpr ApiResource kResource{"", "v1", "namespaces", "Namespace",
                                         false};

  ObjectMeta metadata;
};

}  // namespace minisched
