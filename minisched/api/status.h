#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace minisched {

// One field's share in a refusal.
struct StatusCause {
  std::string reason;   // "FieldValueInvalid", ...
  std::string message;  // for people
  std::string field;    // "spec.containers[0].image"
};

struct StatusDetails {
  std::string name;
  std::string group;
  std::string kind;
  std::string uid;
  std::vector<StatusCause> causes;
  // Seconds after which to try again, 0 where the server gives none.
  std::int32_t retry_after_seconds = 0;
};

// What the API server answers where it has no object to give: meta/v1 Status.
// Named ApiStatus because Status is the scheduling framework's word.
struct ApiStatus {
  std::string status;  // "Success" or "Failure"
  std::string message;
  std::string reason;  // "NotFound", "AlreadyExists", "Conflict", "Gone", ...
  StatusDetails details;
  int code = 0;  // the HTTP status code
};

}  // namespace minisched
