#pragma once

#include <memory>
#include <optional>
#include <string>

#include "minisched/api/meta.h"
#include "minisched/api/status.h"

namespace minisched {

// One event of a watch, which the server sends as one line.
template <class T>
struct WatchEvent {
  enum class Type {
    kAdded,
    kModified,
    kDeleted,
    kBookmark,  // no change up to resource_version
    kError      // the watch failed: see `status` (410: list again)
  };

  Type type;
  // For kAdded, kModified and kDeleted (the last state). Null otherwise, and if
  // the object is malformed.
  std::shared_ptr<const T> object;
  std::optional<MalformedObject> malformed;
  // A new watch from this version continues after this event. Empty for kError.
  std::string resource_version;
  // For kError.
  ApiStatus status;
};

}  // namespace minisched
