#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "minisched/api/status.h"

namespace minisched {

// What minisched/client throws. Each what() is one line, fit for a user.

// The server answered, and its answer is no: what client-go calls a
// StatusError. what() is the server's message.
class ApiError : public std::runtime_error {
 public:
  explicit ApiError(ApiStatus status)
      : std::runtime_error(status.message), status_(std::move(status)) {}

  // The HTTP code: 404, 409, ...
  int code() const { return status_.code; }
  // The machine-readable reason: "NotFound", "Conflict", ...
  const std::string& reason() const { return status_.reason; }
  const ApiStatus& status() const { return status_; }

 private:
  ApiStatus status_;
};

// No answer came: the connection could not be made, was not trusted, broke, or
// took too long.
class TransportError : public std::runtime_error {
 public:
  enum class Kind {
    kConnect,  // not reached: refused, no such host, no route
    kTls,      // reached, but one side does not trust the other
    kLost,     // the connection broke before the answer was complete
    kTimeout,  // a deadline passed
    kProtocol  // an answer came that is not the Kubernetes API's
  };

  TransportError(Kind kind, const std::string& message)
      : std::runtime_error(message), kind_(kind) {}

  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

// Ends a call whose stop token asked to stop. A request that was already sent
// may have had its effect. Not an error, so not a std::exception: handlers of
// errors let it pass, up to the function that owns the stop source.
class Cancelled {};

// The configuration cannot be used: says which file, what in it, and why.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace minisched
