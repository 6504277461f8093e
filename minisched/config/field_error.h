#pragma once

#include <string>
#include <vector>

namespace minisched {

// A fault of a field in a configuration.
struct FieldError {
  std::string path;  // as in api/json_path.h: "profiles[0].schedulerName"
  std::string message;

  bool operator==(const FieldError&) const = default;
};

using FieldErrors = std::vector<FieldError>;

}  // namespace minisched
