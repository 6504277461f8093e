#pragma once

// For the client's own .cc files, because it includes Asio.

#include <chrono>
#include <cstddef>
#include <string>

#include "minisched/client/connection.h"
#include "minisched/client/errors.h"

namespace minisched {

// Turns the failures of requests to one server into errors for users.
class TransportErrors {
 public:
  // `max_response` is the limit that RestConfig::max_response_bytes sets.
  TransportErrors(std::string server, std::size_t max_response);

  // `what` ("no response") lasted until the time limit.
  TransportError Late(const std::string& what,
                      std::chrono::milliseconds limit) const;

  // The message is `what` ("the response is larger than ") and `limit`, which
  // is in bytes.
  TransportError TooLarge(const std::string& what, std::size_t limit) const;
  TransportError ResponseTooLarge() const;

  TransportError NoSuchHost() const;

  // A request has failed. `status` is 0 if the head of the response was not yet
  // read.
  TransportError Explain(const Connection::Error& error, int status) const;

  // Any other failure: kProtocol.
  TransportError Other(const std::string& message) const;

 private:
  TransportError ExplainHandshake(const Connection::Error& error) const;
  TransportError ExplainExchange(int code, int status) const;
  TransportError Make(TransportError::Kind kind,
                      const std::string& message) const;

  const std::string server_;
  const std::size_t max_response_;
};

}  // namespace minisched
