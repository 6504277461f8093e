#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "lab/apiserver/http/http.h"

namespace minisched::apiserver {

// An HTTP/1.1 server for one handler, on the loop's thread. It limits what a
// client can make it hold: headers to 16 KiB, bodies to 3 MiB (413). It closes
// the connection of a client that neither sends nor reads anything for a while.
//
// A web page that resolves its own name to this address (DNS rebinding) can
// make a browser send requests here. So the server refuses a request whose Host
// is neither localhost nor an IP address.
class HttpServer {
 public:
  // The handler calls this once for each request, on the loop's thread, at once
  // or later. It has no effect if the client has disconnected.
  using Respond = std::function<void(Reply)>;
  using Handler = std::function<void(Request, const Respond&)>;

  // Starts to listen. With `port` 0, url() has the chosen port. Throws
  // boost::system::system_error if listening fails.
  HttpServer(boost::asio::io_context& io, const std::string& address,
             unsigned short port, Handler handler);
  // Closes all connections and destroys their streams. REQUIRES: the loop no
  // longer runs.
  ~HttpServer();

  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Returns "http://127.0.0.1:8080".
  std::string url() const;

  // Accepts no more connections, and ends the open ones: streams get a proper
  // end, connections with an answer in progress end after the answer, and the
  // others end at once.
  void Close();
  // Closes all connections and refuses new ones for `duration`, as if the
  // server were down. Another call starts a new period.
  void GoAway(std::chrono::milliseconds duration);
  // True if there are no connections.
  bool idle() const { return sessions_.empty(); }

 private:
  class Session;
  void Accept();
  void AcceptAfter(std::chrono::milliseconds wait);
  void Bind();
  void BreakOff();

  boost::asio::ip::tcp::acceptor acceptor_;
  const boost::asio::ip::tcp::endpoint endpoint_;
  bool away_ = false;
  boost::asio::steady_timer retry_;
  Handler handler_;
  // The open connections.
  std::set<std::shared_ptr<Session>> sessions_;
};

}  // namespace minisched::apiserver
