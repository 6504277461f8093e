#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "minisched/api/status.h"

namespace minisched {

// The errors of minisched/client. Each what() is one line for a user.

// The server refused the request: client-go's StatusError. what() is the
// server's message.
class ApiError : public std::runtime_error {
 public:
  explicit ApiError(ApiStatus status)
      : std::runtime_error(status.message), status_(std::move(status)) {}

  // The HTTP status code: 404, 409, ...
  int code() const { return status_.code; }
  // The machine-readable reason: "NotFound", "Conflict", ...
  const std::string& reason() const { return status_.reason; }
  const ApiStatus& status() const { return status_; }

 private:
  ApiStatus status_;
};

// There is no response from the API server: the connection failed, was not
// trusted, broke or took too long, or the response isn't the Kubernetes API's.
class TransportError : public std::runtime_error {
 public:
  enum class Kind {
    kConnect,  // no connection: refused, no such host, no route, closed during
               // the TLS handshake
    kTls,      // connected, but one side does not trust the other
    kLost,     // the connection broke before the response was complete
    kTimeout,  // a deadline passed
    kProtocol  // the response is not the Kubernetes API's
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

// The configuration can't be used. what() names the file, the field and why.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace minisched
