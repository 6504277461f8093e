#include "minisched/client/connection.h"

#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <utility>

#include "minisched/client/io_thread.h"

namespace minisched {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// Enough for most responses and for several records of TLS.
constexpr std::size_t kReadAtOnce = std::size_t{64} << 10;

// The settings that client-go's connections have. Keepalive detects a server
// that is gone, which a watch or an idle connection would not notice: after
// 30 s of silence the kernel probes the server every 15 s, and breaks the
// connection when nine probes get no response. Ignores failures: a connection
// works without these settings, too.
void Configure(tcp::socket& socket) {
  constexpr int kIdleSeconds = 30;
  constexpr int kIntervalSeconds = 15;
  constexpr int kProbes = 9;
  const auto set = [&socket](int level, int option, int value) {
    setsockopt(socket.native_handle(), level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kIntervalSeconds);
  set(IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
}

}  // namespace

Connection::Connection(const ServerAddress& server,
                       std::shared_ptr<const Tls> tls)
    : host_(server.host),
      port_(server.port),
      tls_(server.is_https ? std::move(tls) : nullptr),
      socket_(IoContext()),
      resolver_(IoContext()) {}

void Connection::Connect(ConnectHandler done) {
  connected_ = std::move(done);
  boost::system::error_code is_name;
  const auto address = asio::ip::make_address(host_, is_name);
  if (!is_name) {
    return ConnectTo(
        Resolver::results_type::create(tcp::endpoint(address, port_), "", ""));
  }
  // The lookup runs on a thread of Asio.
  resolver_.async_resolve(
      host_, std::to_string(port_), Resolver::numeric_service,
      [self = shared_from_this()](error_code error, const auto& addresses) {
        if (error) return self->Finish(Step::kResolve, error);
        self->ConnectTo(addresses);
      });
}

void Connection::ConnectTo(const Resolver::results_type& addresses) {
  // Connecting would open the socket again.
  if (closed_) return Finish(Step::kConnect, asio::error::operation_aborted);
  asio::async_connect(socket_, addresses,
                      [self = shared_from_this()](
                          error_code error, const tcp::endpoint& /*address*/) {
                        self->OnConnected(error);
                      });
}

void Connection::OnConnected(error_code error) {
  if (closed_) error = asio::error::operation_aborted;
  if (error) return Finish(Step::kConnect, error);
  Configure(socket_);
  if (!tls_) return Finish(Step::kConnect, {});
  SSL_CTX_up_ref(tls_->context());  // for the asio::ssl::context
  asio::ssl::context context(tls_->context());
  tls_stream_.emplace(socket_, context);
  tls_->Prepare(tls_stream_->native_handle(), &refusal_);
  tls_stream_->async_handshake(asio::ssl::stream_base::client,
                               [self = shared_from_this()](error_code failure) {
                                 self->Finish(Step::kHandshake, failure);
                               });
}

void Connection::Finish(Step step, error_code error) {
  std::exchange(connected_, nullptr)(step, error);
}

// Calls `call` with the stream that carries HTTP: the TLS stream or the socket.
template <class Call>
void Connection::WithStream(Call call) {
  tls_stream_ ? call(*tls_stream_) : call(socket_);
}

void Connection::Write(const std::string& text, Handler done) {
  WithStream([&](auto& stream) {
    asio::async_write(stream, asio::buffer(text),
                      [self = shared_from_this(), done = std::move(done)](
                          error_code error, std::size_t /*size*/) {
                        if (error) self->is_broken_ = true;
                        done(error);
                      });
  });
}

void Connection::Read(Handler done) {
  WithStream([&](auto& stream) {
    stream.async_read_some(input_.prepare(kReadAtOnce),
                           [self = shared_from_this(), done = std::move(done)](
                               error_code error, std::size_t size) {
                             self->input_.commit(size);
                             done(error);
                           });
  });
}

void Connection::Close() {
  closed_ = true;
  resolver_.cancel();
  boost::system::error_code ignored;
  socket_.close(ignored);
}

bool Connection::IsUsable() {
  if (closed_ || is_broken_ || input_.size() > 0) return false;
  char byte = 0;
  const ssize_t size = recv(socket_.native_handle(), &byte, sizeof byte,
                            MSG_PEEK | MSG_DONTWAIT);
  return size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

}  // namespace minisched
