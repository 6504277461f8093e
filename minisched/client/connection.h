#pragma once

// For the client's own .cc files, because it includes Asio.

#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "minisched/client/tls.h"
#include "minisched/client/transport.h"

namespace minisched {

// A connection to one address of a server. Sends one request at a time, and
// connects for the first of them. Hides cpprestsdk: another HTTP library needs
// another MakeConnection() and another io_thread.cc. Used on the I/O thread.
class Connection {
 public:
  // What failed, and why.
  struct Error {
    enum class Step {
      kReuse,    // the server has closed the idle connection: nothing was sent
      kConnect,  // TCP
      kHandshake,  // TLS
      kExchange,   // sending the request and receiving the response
      kOther
    };
    Step step = Step::kOther;
    // An errno, an error of OpenSSL, or one of asio::error::misc_errors and
    // asio::ssl::error::stream_errors. 0 means that the response is malformed.
    int code = 0;
    // Of kHandshake: why the client rejected the server's certificate; may be
    // empty. Of kOther: what failed.
    std::string message = {};
  };

  // Receives what comes of a request: OnSent() and OnHead(), then OnBytes() any
  // number of times, and OnEnd() or, at any time, OnError().
  class Handler {
   public:
    virtual ~Handler() = default;
    // The headers of the request are sent.
    virtual void OnSent() = 0;
    // Status and headers. The body is empty.
    virtual void OnHead(HttpResponse head) = 0;
    virtual void OnBytes(std::string_view body) = 0;
    // The connection can be used again.
    virtual void OnEnd() = 0;
    virtual void OnError(const Error& error) = 0;
  };

  virtual ~Connection() = default;

  // Sends the request with this target and Host header. A GET or HEAD is sent
  // again, once, if an idle connection ends before the head of the response.
  // Throws if the request can't be sent.
  virtual void Send(const HttpRequest& request, const std::string& target,
                    const std::string& host,
                    std::shared_ptr<Handler> handler) = 0;

  // Ends the request that is under way. After this, its handler is not called,
  // and the connection can't be used. To close an idle connection, destroy it.
  virtual void Close() = 0;
};

// `tls` is null if the server has no TLS.
std::shared_ptr<Connection> MakeConnection(
    const boost::asio::ip::tcp::endpoint& address,
    std::shared_ptr<const Tls> tls);

}  // namespace minisched
