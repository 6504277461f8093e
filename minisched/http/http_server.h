#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "minisched/http/http.h"
#include "minisched/http/http_server_options.h"

namespace minisched::http {

// An HTTP/1.1 server that passes all requests to one handler. It runs on the
// loop's thread. To limit its memory, it refuses headers above 1 MiB, a field
// of a header above 64 KiB, bodies above options.max_body, and more connections
// than options.max_connections. It closes the connection of a client that takes
// too long to send a request or to read an answer.
//
// A web page whose host name resolves to this server's address (DNS rebinding)
// can make a browser send requests here. So the server refuses a request whose
// Host is neither localhost nor an IP address.
class HttpServer {
 public:
  // The handler calls this function once for each request, at once or later, on
  // the loop's thread. The call has no effect if the client has disconnected.
  using Respond = std::function<void(Reply)>;
  using Handler = std::function<void(Request, const Respond&)>;

  // Starts to listen. Throws std::runtime_error if listening fails: "cannot
  // listen on 127.0.0.1:80: Permission denied".
  HttpServer(boost::asio::io_context& io, HttpServerOptions options,
             Handler handler);
  // Closes all connections and destroys their streams. REQUIRES: the loop no
  // longer runs.
  ~HttpServer();

  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Returns "http://127.0.0.1:8080", with the port that was picked.
  std::string url() const;

  // Stops accepting connections, and ends the open ones. Streams get a proper
  // end. A connection on which a response is being sent ends after the
  // response. The other connections end at once, without a response.
  void Close();
  // Closes all connections and refuses new ones for `duration`, as if the
  // server were down. A further call replaces the rest of the duration.
  void GoAway(std::chrono::milliseconds duration);
  // True if there are no connections.
  bool idle() const { return sessions_.empty(); }

 private:
  class Session;
  void Accept();
  void AcceptAfter(std::chrono::milliseconds wait);
  void Bind();
  void BreakOff();

  const HttpServerOptions options_;
  boost::asio::ip::tcp::acceptor acceptor_;
  const boost::asio::ip::tcp::endpoint endpoint_;
  bool away_ = false;
  boost::asio::steady_timer retry_;
  Handler handler_;
  // The open connections.
  std::set<std::shared_ptr<Session>> sessions_;
};

}  // namespace minisched::http
