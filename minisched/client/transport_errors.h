#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <string>
#include <string_view>

#include "minisched/client/errors.h"
#include "minisched/client/result.h"
#include "minisched/client/tls.h"

namespace minisched {

// Turns the failures of requests to one server into errors for users.
class TransportErrors {
 public:
  // `tls`, which explains refused certificates, must outlive this.
  TransportErrors(std::string server, Tls& tls);

  // `what` ("no answer") lasted until the time limit.
  TransportError Late(const std::string& what,
                      std::chrono::milliseconds limit) const;

  // The message is `what` ("the response is larger than ") and `limit`, which
  // is in bytes.
  TransportError TooLarge(const std::string& what, std::size_t limit) const;

  // Explains an exception that cpprestsdk has thrown. Returns a TransportError
  // as it is.
  ClientError Explain(const std::exception_ptr& thrown);

 private:
  TransportError Make(TransportError::Kind kind,
                      const std::string& message) const;
  TransportError Translate(std::string_view what, int code);
  std::string ExplainHandshake(int code);

  const std::string server_;
  Tls& tls_;
};

}  // namespace minisched
