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

// The connections to a server that no request uses. On the I/O thread, except
// for the constructor, and destroyed there.
class ConnectionPool : public std::enable_shared_from_this<ConnectionPool> {
 public:
  // How long a connection is kept at least, and half of the longest time.
  // kube-apiserver closes a connection after 90 s without a request. It must
  // not do so just when we send one, so we must be earlier.
  static constexpr std::chrono::seconds kKeepFor{30};

  ConnectionPool(ServerAddress server, std::shared_ptr<const Tls> tls,
                 std::chrono::milliseconds keep_for = kKeepFor);

  // Returns the connection that was used last, because the server will close it
  // last; null if there is none.
  std::shared_ptr<Connection> Take();

  // Makes a connection that is not yet connected.
  std::shared_ptr<Connection> Make() const;

  // Takes a connection whose request has ended. If `keep_alive`, keeps it for a
  // later request; else closes it.
  void Return(std::shared_ptr<Connection> connection, bool keep_alive);

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Kept {
    std::shared_ptr<Connection> connection;
    TimePoint since;
  };

  // Closes old connections now and then, as long as there are any.
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
