#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace minisched {

// The problem of one field of a rejected request.
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
  // After how many seconds the client should try again; 0: not given.
  std::int32_t retry_after_seconds = 0;
};

// The API server's response if there is no object to return: meta/v1's Status.
// Named ApiStatus because Status is a type of the scheduling framework.
struct ApiStatus {
  std::string status;  // "Success" or "Failure"
  std::string message;
  std::string reason;  // "NotFound", "AlreadyExists", "Conflict", "Gone", ...
  StatusDetails details;
  int code = 0;  // the HTTP status code
};

}  // namespace minisched
