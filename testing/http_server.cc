#include "testing/http_server.h"

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cctype>
#include <chrono>
#include <deque>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include "minisched/base/mutex.h"

namespace minisched {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr std::chrono::seconds kAwaitTimeout{20};
constexpr std::size_t kLargestBody = 64 << 20;

std::string ToText(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

std::string CommonName(X509* certificate) {
  char name[256] = "";
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName,
                            name, sizeof name);
  return name;
}

// Returns the common names of the client's own certificate and of its chain. On
// a server, OpenSSL's chain does not contain the client's own certificate.
std::vector<std::string> ClientCertificates(SSL* ssl) {
  std::vector<std::string> names;
  if (X509* own = SSL_get0_peer_certificate(ssl)) {
    names.push_back(CommonName(own));
  }
  const STACK_OF(X509)* chain = SSL_get_peer_cert_chain(ssl);
  for (int i = 0; i < sk_X509_num(chain); ++i) {
    names.push_back(CommonName(sk_X509_value(chain, i)));
  }
  return names;
}

std::string Head(int status, const ServerHeaders& headers,
                 const std::string& framing) {
  std::ostringstream head;
  head << "HTTP/1.1 " << status << " "
       << http::obsolete_reason(static_cast<http::status>(status)) << "\r\n";
  for (const auto& [name, value] : headers) {
    head << name << ": " << value << "\r\n";
  }
  head << framing << "\r\n\r\n";
  return head.str();
}

std::optional<asio::ssl::context> MakeTls(const ServerOptions& options) {
  if (options.certificate.empty()) return std::nullopt;
  asio::ssl::context tls(asio::ssl::context::tls_server);
  tls.use_certificate_chain(asio::buffer(options.certificate));
  tls.use_private_key(asio::buffer(options.key), asio::ssl::context::pem);
  if (!options.client_ca.empty()) {
    tls.add_certificate_authority(asio::buffer(options.client_ca));
    tls.set_verify_mode(asio::ssl::verify_peer |
                        asio::ssl::verify_fail_if_no_peer_cert);
  }
  return tls;
}

}  // namespace

// All connections run on one thread and need no locks. `mu` guards the values
// that tests read.
class HttpServer::Impl {
 public:
  Impl(Handler handler, const ServerOptions& options);
  ~Impl();

  void Accept();

  asio::io_context io{1};
  const Handler handler;
  const bool silent;
  const std::string greeting;
  std::optional<asio::ssl::context> tls;
  tcp::acceptor acceptor;
  // Used on the server's thread only.
  std::vector<std::weak_ptr<ServerReply::Connection>> connections;

  mutable Mutex mu;
  mutable CondVar changed;
  std::vector<ServerRequest> requests GUARDED_BY(mu);
  std::size_t accepted GUARDED_BY(mu) = 0;
  std::size_t open GUARDED_BY(mu) = 0;

  std::thread thread;
};

// One connection. All methods except Post() run on the server's thread. Pending
// reads and writes keep the connection alive.
class ServerReply::Connection
    : public std::enable_shared_from_this<ServerReply::Connection> {
 public:
  Connection(HttpServer::Impl& server, tcp::socket socket, std::size_t number)
      : server_(server), socket_(std::move(socket)), number_(number) {
    if (server_.tls && !server_.silent) tls_.emplace(socket_, *server_.tls);
  }

  ~Connection() {
    MutexLock lock(server_.mu);
    --server_.open;
    server_.changed.NotifyAll();
  }

  void Start() {
    if (server_.silent) {
      if (!server_.greeting.empty()) Write(server_.greeting);
      return DiscardInput();
    }
    if (!tls_) return ReadRequest();
    tls_->async_handshake(asio::ssl::stream_base::server,
                          [self = shared_from_this()](error_code error) {
                            if (error) return self->Drop();
                            self->ReadRequest();
                          });
  }

  // Runs an action on the server's thread. Actions run in the order of the
  // Post() calls, also if several threads call Post(): without the strand, an
  // action from another thread could overtake an earlier action from a handler.
  void Post(std::function<void(Connection&)> action) {
    asio::post(order_, [self = shared_from_this(), action = std::move(action)] {
      action(*self);
    });
  }

  void Write(std::string bytes) {
    output_.push_back(std::move(bytes));
    if (output_.size() == 1) WriteNext();
  }

  // Closes the connection after all output is written.
  void End(bool reset) {
    end_ = [this, reset] {
      if (reset) {
        error_code ignored;
        socket_.set_option(asio::socket_base::linger(true, 0), ignored);
      }
      Drop();
    };
    if (output_.empty()) end_();
  }

  void Drop() {
    error_code ignored;
    socket_.close(ignored);
  }

 private:
  template <class Call>
  void WithStream(Call call) {
    tls_ ? call(*tls_) : call(socket_);
  }

  // Reads the next request. A read is always pending, because only a failing
  // read shows that the client has closed the connection.
  void ReadRequest() {
    parser_.emplace();
    parser_->body_limit(kLargestBody);
    WithStream([this](auto& stream) {
      http::async_read(stream, input_, *parser_,
                       [self = shared_from_this()](error_code error, auto) {
                         if (error) return self->Drop();
                         self->Handle();
                       });
    });
  }

  // Reads and ignores all input until the client closes the connection.
  void DiscardInput() {
    socket_.async_wait(tcp::socket::wait_read,
                       [self = shared_from_this()](error_code error) {
                         char bytes[4096];
                         if (!error) {
                           self->socket_.read_some(asio::buffer(bytes), error);
                         }
                         if (error) return self->Drop();
                         self->DiscardInput();
                       });
  }

  void Handle() {
    const auto& message = parser_->get();
    ServerRequest request{.method = ToText(message.method_string()),
                          .target = ToText(message.target()),
                          .body = message.body(),
                          .connection = number_};
    for (const auto& field : message) {
      std::string name = ToText(field.name_string());
      for (char& c : name) c = static_cast<char>(std::tolower(c));
      request.headers[name] = ToText(field.value());
    }
    if (tls_) {
      SSL* ssl = tls_->native_handle();
      const char* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
      request.server_name = name == nullptr ? "" : name;
      request.client_certificates = ClientCertificates(ssl);
    }
    ReadRequest();
    {
      MutexLock lock(server_.mu);
      server_.requests.push_back(request);
      server_.changed.NotifyAll();
    }
    server_.handler(request, ServerReply(weak_from_this()));
  }

  void WriteNext() {
    WithStream([this](auto& stream) {
      asio::async_write(stream, asio::buffer(output_.front()),
                        [self = shared_from_this()](error_code error, auto) {
                          self->output_.pop_front();
                          if (error) return self->Drop();
                          if (!self->output_.empty()) return self->WriteNext();
                          if (self->end_) self->end_();
                        });
    });
  }

  HttpServer::Impl& server_;
  tcp::socket socket_;
  std::optional<asio::ssl::stream<tcp::socket&>> tls_;
  asio::strand<tcp::socket::executor_type> order_{socket_.get_executor()};
  const std::size_t number_;
  boost::beast::flat_buffer input_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::deque<std::string> output_;  // the first is being written
  std::function<void()> end_;
};

ServerReply::ServerReply(std::weak_ptr<Connection> connection)
    : connection_(std::move(connection)) {}

void ServerReply::Send(int status, const std::string& body,
                       const ServerHeaders& headers) {
  Raw(Head(status, headers, "Content-Length: " + std::to_string(body.size())) +
      body);
}

void ServerReply::Start(int status, const ServerHeaders& headers) {
  Raw(Head(status, headers, "Transfer-Encoding: chunked"));
}

void ServerReply::Chunk(const std::string& data) {
  std::ostringstream size;
  size << std::hex << data.size();
  Raw(size.str() + "\r\n" + data + "\r\n");
}

void ServerReply::End() { Raw("0\r\n\r\n"); }

void ServerReply::Raw(const std::string& bytes) {
  if (const auto connection = connection_.lock()) {
    connection->Post([bytes](Connection& it) { it.Write(bytes); });
  }
}

void ServerReply::Close() {
  if (const auto connection = connection_.lock()) {
    connection->Post([](Connection& it) { it.End(/*reset=*/false); });
  }
}

void ServerReply::Reset() {
  if (const auto connection = connection_.lock()) {
    connection->Post([](Connection& it) { it.End(/*reset=*/true); });
  }
}

HttpServer::Impl::Impl(Handler handler, const ServerOptions& options)
    : handler(std::move(handler)),
      silent(options.silent),
      greeting(options.greeting),
      tls(MakeTls(options)),
      acceptor(io, {asio::ip::make_address(options.address), options.port}) {
  Accept();
  thread = std::thread([this] { io.run(); });
}

// Closes all sockets. The thread then has no work left and ends.
HttpServer::Impl::~Impl() {
  asio::post(io, [this] {
    acceptor.close();
    for (const auto& weak : connections) {
      if (const auto connection = weak.lock()) connection->Drop();
    }
  });
  thread.join();
}

void HttpServer::Impl::Accept() {
  acceptor.async_accept([this](error_code error, tcp::socket socket) {
    if (error) return;
    std::size_t number = 0;
    {
      MutexLock lock(mu);
      number = accepted++;
      ++open;
      changed.NotifyAll();
    }
    socket.set_option(tcp::no_delay(true));
    const auto connection = std::make_shared<ServerReply::Connection>(
        *this, std::move(socket), number);
    std::erase_if(connections, [](const auto& old) { return old.expired(); });
    connections.push_back(connection);
    connection->Start();
    Accept();
  });
}

HttpServer::HttpServer(Handler handler, const ServerOptions& options)
    : impl_(std::make_unique<Impl>(std::move(handler), options)) {}

HttpServer::~HttpServer() = default;

int HttpServer::port() const { return impl_->acceptor.local_endpoint().port(); }

std::string HttpServer::url() const {
  const auto address = impl_->acceptor.local_endpoint().address();
  const std::string host =
      address.is_v6() ? "[" + address.to_string() + "]" : address.to_string();
  return (impl_->tls ? "https://" : "http://") + host + ":" +
         std::to_string(port());
}

std::vector<ServerRequest> HttpServer::requests() const {
  MutexLock lock(impl_->mu);
  return impl_->requests;
}

std::size_t HttpServer::open_connections() const {
  MutexLock lock(impl_->mu);
  return impl_->open;
}

std::size_t HttpServer::accepted_connections() const {
  MutexLock lock(impl_->mu);
  return impl_->accepted;
}

bool HttpServer::AwaitRequests(std::size_t count) const {
  const auto deadline = std::chrono::steady_clock::now() + kAwaitTimeout;
  MutexLock lock(impl_->mu);
  while (impl_->requests.size() < count) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    impl_->changed.WaitUntil(impl_->mu, {}, deadline);
  }
  return true;
}

bool HttpServer::AwaitOpenConnections(std::size_t count) const {
  const auto deadline = std::chrono::steady_clock::now() + kAwaitTimeout;
  MutexLock lock(impl_->mu);
  while (impl_->open != count) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    impl_->changed.WaitUntil(impl_->mu, {}, deadline);
  }
  return true;
}

}  // namespace minisched
