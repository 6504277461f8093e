#pragma once

// For the client's own .cc files, because it includes Asio.

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "minisched/client/server_address.h"
#include "minisched/client/tls.h"

namespace minisched {

// A connection to a server, with TLS if the server's URL is https. Used on the
// I/O thread, except for the constructor. Operations under way fail at Close().
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using error_code = boost::system::error_code;
  using Handler = std::function<void(error_code)>;

  // The steps of connecting. Each of them may fail.
  enum class Step { kResolve, kConnect, kHandshake };
  using ConnectHandler = std::function<void(Step, error_code)>;

  Connection(const ServerAddress& server, std::shared_ptr<const Tls> tls);

  // Each of these functions calls back once, after it has returned.

  // Looks up the host and connects to the first of its addresses that accepts.
  // REQUIRES: not closed.
  void Connect(ConnectHandler done);
  // Sends the whole text, which must live until the callback. After an error,
  // the connection can still be read.
  void Write(const std::string& text, Handler done);
  // Waits for at least one byte, and appends the received bytes to input().
  void Read(Handler done);

  void Close();

  // True if the connection can be used for another request: the server has
  // neither closed it nor sent anything.
  bool IsUsable();

  // The bytes that were read and not yet removed.
  boost::beast::flat_buffer& input() { return input_; }

  // Returns why the server's certificate was rejected, as a message for users;
  // empty if it was not.
  const std::string& refusal() const { return refusal_; }

 private:
  using Resolver = boost::asio::ip::tcp::resolver;

  void ConnectTo(const Resolver::results_type& addresses);
  void OnConnected(error_code error);
  void Finish(Step step, error_code error);
  template <class Call>
  void WithStream(Call call);

  const std::string host_;
  const std::uint16_t port_;
  const std::shared_ptr<const Tls> tls_;  // null: the server has no TLS
  boost::asio::ip::tcp::socket socket_;
  Resolver resolver_;
  std::string refusal_;
  std::optional<boost::asio::ssl::stream<boost::asio::ip::tcp::socket&>>
      tls_stream_;  // of socket_
  boost::beast::flat_buffer input_;
  ConnectHandler connected_;
  bool closed_ = false;
  bool is_broken_ = false;  // a part of a request was not sent
};

}  // namespace minisched
