#pragma once

// For the client's own .cc files, because it includes Asio.

#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "minisched/base/clock.h"
#include "minisched/client/connection.h"
#include "minisched/client/server_address.h"
#include "minisched/client/tls.h"
#include "minisched/client/transport_errors.h"

namespace minisched {

// The idle connections to a server. Used on the I/O thread, except for the
// constructor, and destroyed there.
class ConnectionPool {
 public:
  // A connection that was idle for longer is not used again, because the server
  // may have another address now. cpprestsdk closes it after 30 to 60 s, and
  // kube-apiserver after 90 s. So the server does not close a connection just
  // when the client sends a request.
  static constexpr std::chrono::seconds kKeepFor{30};

  explicit ConnectionPool(const Clock& clock = RealClock()) : clock_(clock) {}

  // Returns the connection that was used last, because the server will close it
  // last; null if there is no connection.
  std::shared_ptr<Connection> Take() {
    const Clock::TimePoint oldest = clock_.Now() - kKeepFor;
    if (!idle_.empty() && idle_.back().since < oldest) idle_.clear();
    if (idle_.empty()) return nullptr;
    auto connection = std::move(idle_.back().connection);
    idle_.pop_back();
    return connection;
  }

  // Keeps a connection whose request has ended for a later request.
  void Return(std::shared_ptr<Connection> connection) {
    idle_.push_back({std::move(connection), clock_.Now()});
  }

 private:
  struct Idle {
    std::shared_ptr<Connection> connection;
    Clock::TimePoint since;
  };

  const Clock& clock_;
  std::vector<Idle> idle_;  // by `since`
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
