#pragma once

#include <string>

#include "minisched/api/meta.h"

namespace minisched {

// An object of the kind of T as the server sent it, including fields that T
// doesn't have. Client lists and watches it as it does T. Available for Pod and
// Node.
template <class T>
struct RawObject {
  static constexpr const auto& kResource = T::kResource;

  ObjectMeta metadata;
  std::string json;  // the whole object on one line
};

}  // namespace minisched
