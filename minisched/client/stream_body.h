#pragma once

// For the client's own .cc files, because it includes Asio.

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "minisched/client/connection.h"
#include "minisched/client/result.h"
#include "minisched/client/server.h"

namespace minisched {

// The body of a stream. Receives the body whether or not it is read, and fails
// if more than Server::max_response bytes are unread. Used on the I/O thread,
// except for the destructor.
class StreamBody {
 public:
  // A part of the body.
  struct Part {
    std::string bytes;      // empty: the body has ended
    bool has_more = false;  // another part has come
  };

  // `connection` receives the body.
  StreamBody(std::shared_ptr<const Server> server,
             std::shared_ptr<Connection> connection);

  // Receive the body, its end, and an error.
  void Append(std::string_view bytes);
  void End();
  void Fail(const TransportError& error);

  // Calls back with the next part, of at most 64 KiB unless the server sent a
  // larger chunk, once it has come. One call at a time.
  void Read(ClientCallback<Part> done);

  // Closes the connection. After this, Read() does not call back.
  void Close();

 private:
  // Calls done_ if there is a part, the end or an error to report.
  void Deliver();

  const std::shared_ptr<const Server> server_;
  std::shared_ptr<Connection> connection_;  // null: closed
  std::deque<std::string> parts_;
  std::size_t unread_ = 0;  // the size of all parts
  std::optional<TransportError> error_;
  ClientCallback<Part> done_;  // of a pending Read(), else empty
};

}  // namespace minisched
