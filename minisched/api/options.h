#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace minisched {

// What a client sends with a request, or is told, that is no object.

struct DeleteOptions {
  // Seconds until the object is gone; 0 at once; nullopt: the kind's default.
  std::optional<std::int64_t> grace_period_seconds;
  // Delete only the very object with this uid, not a later namesake.
  std::string uid;
};

// What /version answers.
struct VersionInfo {
  std::string git_version;  // "v1.36.3"
  std::string platform;     // "linux/amd64"
};

}  // namespace minisched
