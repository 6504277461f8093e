#pragma once

#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <tl/expected.hpp>
#include <utility>
#include <variant>

#include "minisched/client/errors.h"

namespace minisched {

// Why a call failed, as a value: what a blocking call would throw.
class ClientError {
 public:
  explicit ClientError(ApiError error) : error_(std::move(error)) {}
  explicit ClientError(TransportError error) : error_(std::move(error)) {}
  explicit ClientError(ConfigError error) : error_(std::move(error)) {}
  explicit ClientError(std::invalid_argument error)
      : error_(std::move(error)) {}
  explicit ClientError(Cancelled cancelled) : error_(cancelled) {}

  // Returns the error if it is an Error (ApiError, TransportError, ConfigError,
  // std::invalid_argument or Cancelled), else null.
  template <class Error>
  const Error* As() const {
    return std::get_if<Error>(&error_);
  }

  // Returns the HTTP status code of an ApiError, and 0 for other errors.
  int code() const {
    const auto* error = As<ApiError>();
    return error ? error->code() : 0;
  }

  // One line for a user; "cancelled" if the caller's stop token ended the call.
  const char* what() const;

  [[noreturn]] void Throw() const;

 private:
  std::variant<ApiError, TransportError, ConfigError, std::invalid_argument,
               Cancelled>
      error_;
};

// What a call that doesn't block ends with.
template <class T>
using ClientResult = tl::expected<T, ClientError>;

template <class T>
using ClientCallback = std::function<void(ClientResult<T>)>;

// Makes a blocking call of one that calls back: passes `start` a callback and
// blocks until it has been called. Returns the value or throws the error.
template <class T, class Start>
T Await(Start start) {
  // Shared, because the callback may still run when the wait is over.
  const auto promise = std::make_shared<std::promise<ClientResult<T>>>();
  start([promise](ClientResult<T> result) {
    promise->set_value(std::move(result));
  });
  ClientResult<T> result = promise->get_future().get();
  if (!result) result.error().Throw();
  return *std::move(result);
}

}  // namespace minisched
