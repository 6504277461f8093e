#pragma once

#include <memory>
#include <optional>
#include <string>

#include "minisched/api/meta.h"
#include "minisched/api/status.h"

namespace minisched {

// One line of a watch.
template <class T>
struct WatchEvent {
  enum class Type {
    kAdded,
    kModified,
    kDeleted,
    kBookmark,  // nothing happened up to resource_version
    kError      // the server gives up; `status` says why (410: list again)
  };

  Type type;
  // For kAdded, kModified, and kDeleted (its last state); null otherwise, and
  // where `malformed` says why.
  std::shared_ptr<const T> object;
  std::optional<MalformedObject> malformed;
  // Where a new watch takes over after this event. Empty for kError.
  std::string resource_version;
  // For kError.
  ApiStatus status;
};

}  // namespace minisched
