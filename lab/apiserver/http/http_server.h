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

// HTTP/1.1 for one handler, on the loop's thread. Bounded in all that a client
// can make it hold: headers to 16 kB, bodies to 3 MiB (413), a client that
// neither sends nor takes anything for a while is cut off.
//
// A web page that resolves its own name to this address (DNS rebinding) can
// make a browser send requests here, so a request whose Host is neither
// localhost nor an IP address is refused.
class HttpServer {
 public:
  // Called once for each request, on the loop's thread, at once or later; what
  // comes after the client has left goes nowhere.
  using Respond = std::function<void(Reply)>;
  using Handler = std::function<void(Request, const Respond&)>;

  // Listens at once, so that `port` 0 can be asked for what it became. Throws
  // boost::system::system_error where it can't.
  HttpServer(boost::asio::io_context& io, const std::string& address,
             unsigned short port, Handler handler);
  // Breaks off the connections that there are, and lets go of their streams.
  // REQUIRES: the loop runs no more.
  ~HttpServer();

  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // "http://127.0.0.1:8080"
  std::string url() const;

  // Takes no more connections, and ends those that there are: streams with a
  // proper end, those whose answer is on its way when they have it, and the
  // others at once.
  void Close();
  // For that long it is as if there were no server: connections are refused,
  // and those that there are have been broken off. Once more is from anew.
  void GoAway(std::chrono::milliseconds duration);
  // There are no connections left.
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
  // The connections that are open.
  std::set<std::shared_ptr<Session>> sessions_;
};

}  // namespace minisched::apiserver
