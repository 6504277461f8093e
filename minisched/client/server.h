#pragma once

// For the client's own .cc files, because it includes Asio.

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "minisched/client/connection.h"
#include "minisched/client/server_address.h"
#include "minisched/client/tls.h"
#include "minisched/client/transport_errors.h"

namespace minisched {

// The idle connections to a server. Used on the I/O thread, except for the
// constructor, and destroyed there.
//
// cpprestsdk closes a connection that was idle for 30 to 60 s. kube-apiserver
// closes it after 90 s. So the server does not close it just when the client
// sends a request.
class ConnectionPool {
 public:
  // Returns the connection that was used last, because the server will close it
  // last; null if there is no connection.
  std::shared_ptr<Connection> Take() {
    if (idle_.empty()) return nullptr;
    auto connection = std::move(idle_.back());
    idle_.pop_back();
    return connection;
  }

  // Keeps a connection whose request has ended for a later request.
  void Return(std::shared_ptr<Connection> connection) {
    idle_.push_back(std::move(connection));
  }

 private:
  std::vector<std::shared_ptr<Connection>> idle_;
};

// What all requests to a server share.
struct Server {
  ServerAddress address;
  std::shared_ptr<const Tls> tls;  // null: the server has no TLS
  std::shared_ptr<ConnectionPool> pool;
  std::shared_ptr<const TransportErrors> errors;
  // RestConfig::max_response_bytes.
  std::size_t max_response = 0;
};

}  // namespace minisched
