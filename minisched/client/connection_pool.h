#pragma once

// For the client's own .cc files, because it includes Asio.

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <vector>

#include "minisched/client/connection.h"
#include "minisched/client/io_thread.h"
#include "minisched/client/server_address.h"
#include "minisched/client/tls.h"

namespace minisched {

// The idle connections to a server. Used on the I/O thread, except for the
// constructor, and destroyed there.
class ConnectionPool : public std::enable_shared_from_this<ConnectionPool> {
 public:
  // An idle connection is kept for at least this time, and for at most twice as
  // long. kube-apiserver closes a connection after 90 s without a request. The
  // client closes it earlier, so that the server does not close it just when
  // the client sends a request.
  static constexpr std::chrono::seconds kKeepFor{30};

  ConnectionPool(ServerAddress server, std::shared_ptr<const Tls> tls,
                 std::chrono::milliseconds keep_for = kKeepFor);

  // Returns the connection that was used last, because the server will close it
  // last; null if there is no usable connection.
  std::shared_ptr<Connection> Take();

  // Returns a new connection, which is not yet connected.
  std::shared_ptr<Connection> Make() const;

  // Takes back a connection whose request has ended. If `keep_alive`, keeps it
  // for a later request; else closes it.
  void Return(std::shared_ptr<Connection> connection, bool keep_alive);

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Kept {
    std::shared_ptr<Connection> connection;
    TimePoint since;
  };

  // Close connections that were idle for too long, every `keep_for`, as long as
  // there are idle connections.
  void CloseOldLater();
  void CloseOld();

  const ServerAddress server_;
  const std::shared_ptr<const Tls> tls_;
  const std::chrono::milliseconds keep_for_;
  std::vector<Kept> kept_;  // by `since`
  bool closes_old_ = false;
  boost::asio::steady_timer timer_{IoContext()};
};

}  // namespace minisched
