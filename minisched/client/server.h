#pragma once

// For the client's own .cc files, because it includes Asio.

#include <cstddef>
#include <memory>

#include "minisched/client/connection_pool.h"
#include "minisched/client/server_address.h"
#include "minisched/client/transport_errors.h"

namespace minisched {

// What all requests to a server share.
struct Server {
  ServerAddress address;
  std::shared_ptr<ConnectionPool> pool;
  std::shared_ptr<const TransportErrors> errors;
  // RestConfig::max_response_bytes.
  std::size_t max_response = 0;
};

}  // namespace minisched
