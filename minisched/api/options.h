#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace minisched {

// Types of requests and responses that aren't objects of the API.

struct DeleteOptions {
  // Seconds until the removal; 0: at once; nullopt: the kind's default.
  std::optional<std::int64_t> grace_period_seconds;
  // Delete only the object with this uid, not another one of the same name.
  std::string uid;
};

// The response of /version.
struct VersionInfo {
  std::string git_version;  // "v1.37.2"
  std::string platform;     // "linux/amd64"
};

}  // namespace minisched
