#pragma once

// For the client's own .cc files, because it includes Asio.

#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstddef>
#include <exception>
#include <string>

#include "minisched/client/connection.h"
#include "minisched/client/errors.h"

namespace minisched {

// Turns the failures of requests to one server into errors for users.
class TransportErrors {
 public:
  using error_code = boost::system::error_code;

  // `max_response` is the limit that RestConfig::max_response_bytes sets.
  TransportErrors(std::string server, std::size_t max_response);

  // `what` ("no response") lasted until the time limit.
  TransportError Late(const std::string& what,
                      std::chrono::milliseconds limit) const;

  // The message is `what` ("the response is larger than ") and `limit`, which
  // is in bytes.
  TransportError TooLarge(const std::string& what, std::size_t limit) const;
  TransportError ResponseTooLarge() const;

  // There is no connection, because this step failed. `refusal` is why the
  // client rejected the server's certificate, or empty.
  TransportError NotConnected(Connection::Step step, error_code error,
                              const std::string& refusal) const;

  // A response can't be read any further. `status` is 0 if its status line was
  // not yet read.
  TransportError NotReceived(error_code error, int status) const;

  // An exception that is not one of the client's errors.
  TransportError Other(const std::exception& error) const;

 private:
  TransportError Make(TransportError::Kind kind,
                      const std::string& message) const;

  const std::string server_;
  const std::size_t max_response_;
};

}  // namespace minisched
