#include "minisched/client/connection.h"

#include <cpprest/http_client.h>
#include <cpprest/producerconsumerstream.h>
#include <cpprest/rawptrstream.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <functional>
#include <system_error>
#include <utility>

#include "minisched/client/io_thread.h"

namespace minisched {
namespace {

namespace asio = boost::asio;
namespace streams = concurrency::streams;
using asio::ip::tcp;
using web::http::http_exception;
using web::http::http_request;
using web::http::http_response;
using web::http::client::http_client;
using web::http::client::http_client_config;
using web::http::client::native_handle;

// Deadlines are those of Operation, which are shorter. cpprestsdk's own can't
// be turned off.
constexpr std::chrono::hours kTimeout{24};

// Thrown by OnSocket(). cpprestsdk passes them on as the request's error.
struct ClosedWhileIdle {};
struct SentBefore {};

// The settings that client-go's connections have. Keepalive detects a server
// that is gone, which a watch or an idle connection would not notice: after
// 30 s of silence the kernel probes the server every 15 s, and breaks the
// connection when nine probes get no response. Ignores failures: a connection
// works without these settings, too.
void KeepAlive(int socket) {
  constexpr int kIdleSeconds = 30;
  constexpr int kIntervalSeconds = 15;
  constexpr int kProbes = 9;
  const auto set = [socket](int level, int option, int value) {
    setsockopt(socket, level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kIntervalSeconds);
  set(IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
}

// True if the server has neither closed the connection nor sent anything.
bool IsIdle(int socket) {
  char byte = 0;
  const ssize_t size =
      recv(socket, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT);
  return size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

bool IsRead(const std::string& method) {
  return method == "GET" || method == "HEAD";
}

HttpResponse HeadOf(const http_response& response) {
  HttpResponse head{.status = response.status_code()};
  for (const auto& [name, value] : response.headers()) {
    std::string lower = name;
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) {
      return static_cast<char>(std::tolower(c));
    });
    head.headers[lower] = value;
  }
  return head;
}

// Receives a body from cpprestsdk as it comes.
class BodyReceiver final
    : public streams::details::basic_producer_consumer_buffer<std::uint8_t> {
 public:
  using OnBytes = std::function<void(std::string_view)>;

  explicit BodyReceiver(OnBytes on_bytes)
      : basic_producer_consumer_buffer(0), on_bytes_(std::move(on_bytes)) {}

  // Not _putn(): after an exception there, cpprestsdk would block the thread.
  pplx::task<std::size_t> putn_nocopy(const std::uint8_t* bytes,
                                      std::size_t size) override {
    try {
      on_bytes_({reinterpret_cast<const char*>(bytes), size});
    } catch (...) {
      return pplx::task_from_exception<std::size_t>(std::current_exception());
    }
    return pplx::task_from_result(size);
  }

 private:
  const OnBytes on_bytes_;
};

// An http_client with at most one connection, so that each of its callbacks
// belongs to the request that is under way. This request holds a reference.
class CpprestConnection final
    : public Connection,
      public IoTask,
      public std::enable_shared_from_this<CpprestConnection> {
 public:
  CpprestConnection(const tcp::endpoint& address,
                    std::shared_ptr<const Tls> tls)
      : tls_(std::move(tls)),
        protocol_(address.protocol()),
        client_(UriOf(address), Config()) {}

  void Send(const HttpRequest& request, const std::string& target,
            const std::string& host,
            std::shared_ptr<Handler> handler) override {
    http_request message(request.method);
    message.set_request_uri(web::uri(target));
    message.headers().add("Host", host);
    for (const auto& [name, value] : request.headers) {
      message.headers().add(name, value);
    }
    is_read_ = IsRead(request.method);
    if (!is_read_) SetBody(message, request.body);
    SetCallbacks(message);
    if (!Begin()) return;  // the program exits
    handler_ = std::move(handler);
    cancel_ = {};
    attempts_ = 0;
    client_.request(message, cancel_.get_token())
        .then([self = shared_from_this()](
                  const pplx::task<http_response>& response) {
          self->Try([&] { self->ReceiveHead(response.get()); });
        });
  }

  void Close() override {
    handler_ = nullptr;
    cancel_.cancel();  // closes the socket
  }

  void Abandon() override { Close(); }

 private:
  using TlsStream = asio::ssl::stream<tcp::socket&>;

  // cpprestsdk looks up the host as it is, so an IPv6 address has no brackets.
  web::uri UriOf(const tcp::endpoint& address) const {
    return web::uri((tls_ ? "https://" : "http://") +
                    address.address().to_string() + ":" +
                    std::to_string(address.port()));
  }

  http_client_config Config() {
    http_client_config config;
    config.set_timeout(kTimeout);
    config.set_max_redirects(0);           // no other server may get our token
    config.set_tlsext_sni_enabled(false);  // Tls sets the server's name
    config.set_nativehandle_options(
        [this](native_handle handle) { OnSocket(handle); });
    config.set_ssl_context_callback([this](asio::ssl::context& context) {
      SSL_CTX_up_ref(tls_->context());  // for the asio::ssl::context
      context = asio::ssl::context(tls_->context());
    });
    return config;
  }

  // Not from a std::string: UndefinedBehaviorSanitizer finds a wrong cast
  // there.
  void SetBody(http_request& message, const std::string& body) {
    body_ = body;  // lives as long as the request
    message.set_body(
        streams::rawptr_stream<std::uint8_t>::open_istream(
            reinterpret_cast<const std::uint8_t*>(body_.data()), body_.size()),
        body_.size(), "application/json");
  }

  void SetCallbacks(http_request& message) {
    const auto self = shared_from_this();
    message.set_progress_handler([self](auto direction, auto /*size*/) {
      if (direction == web::http::message_direction::upload) self->OnSent();
    });
    message.set_response_stream(
        streams::ostream(streams::streambuf<std::uint8_t>(
            std::make_shared<BodyReceiver>([self](std::string_view bytes) {
              const auto handler = self->handler_;
              if (handler) handler->OnBytes(bytes);
            }))));
  }

  // cpprestsdk calls this before it connects, and before it sends on a kept
  // connection. If the kept connection ends before the head of the response,
  // cpprestsdk sends the request again, whatever the method is, and calls this
  // before.
  void OnSocket(native_handle handle) {
    if (attempts_++ > 0 && !is_read_) throw SentBefore();
    auto* const tls = tls_ ? static_cast<TlsStream*>(handle) : nullptr;
    auto& socket = tls ? tls->next_layer() : *static_cast<tcp::socket*>(handle);
    is_sent_ = false;
    was_kept_ = socket.is_open();
    if (was_kept_) {
      if (!IsIdle(socket.native_handle())) throw ClosedWhileIdle();
      return;
    }
    boost::system::error_code error;
    socket.open(protocol_, error);  // connecting uses an open socket
    if (error) throw http_exception(error.value(), error.message());
    KeepAlive(socket.native_handle());
    handshake_ = {};
    if (tls) tls_->Prepare(tls->native_handle(), &handshake_);
  }

  void OnSent() {
    if (std::exchange(is_sent_, true)) return;
    const auto handler = handler_;
    if (handler) handler->OnSent();
  }

  void ReceiveHead(const http_response& response) {
    response.content_ready().then(
        [self = shared_from_this()](const pplx::task<http_response>& whole) {
          self->Try([&] {
            whole.wait();
            self->Finish([](Handler& handler) { handler.OnEnd(); });
          });
        });
    const auto handler = handler_;
    if (handler) handler->OnHead(HeadOf(response));
  }

  // An exception that leaves a continuation would end the program.
  template <class Step>
  void Try(const Step& step) {
    try {
      step();
    } catch (...) {
      const Error error = CurrentError();
      Finish([&error](Handler& handler) { handler.OnError(error); });
    }
  }

  // Ends the request.
  template <class Call>
  void Finish(const Call& call) {
    End();
    const auto handler = std::exchange(handler_, nullptr);
    if (handler) call(*handler);
  }

  // Returns the exception that is being handled.
  Error CurrentError() const {
    using Step = Error::Step;
    try {
      throw;
    } catch (const ClosedWhileIdle&) {
      return {.step = Step::kReuse};
    } catch (const SentBefore&) {
      return {.step = Step::kExchange, .code = ECONNABORTED};
    } catch (const http_exception& error) {
      const Step step = is_sent_ || was_kept_  ? Step::kExchange
                        : handshake_.has_begun ? Step::kHandshake
                                               : Step::kConnect;
      return {.step = step,
              .code = error.error_code().value(),
              .message = handshake_.refusal};
    } catch (const std::exception& error) {
      return {.step = Step::kOther, .message = error.what()};
    }
  }

  const std::shared_ptr<const Tls> tls_;
  const tcp protocol_;
  TlsHandshake handshake_;  // of the present connection
  // Of the request that is under way, or of the last one.
  std::shared_ptr<Handler> handler_;
  std::string body_;
  pplx::cancellation_token_source cancel_;
  int attempts_ = 0;
  bool is_read_ = false;
  bool was_kept_ = false;  // it began on a connection of an earlier request
  bool is_sent_ = false;
  http_client client_;
};

}  // namespace

std::shared_ptr<Connection> MakeConnection(const tcp::endpoint& address,
                                           std::shared_ptr<const Tls> tls) {
  return std::make_shared<CpprestConnection>(address, std::move(tls));
}

}  // namespace minisched
