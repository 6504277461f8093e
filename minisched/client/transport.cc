#include "minisched/client/transport.h"

#include <cpprest/http_client.h>
#include <cpprest/producerconsumerstream.h>

#include <algorithm>
#include <boost/asio/ssl.hpp>
#include <cctype>
#include <sstream>
#include <string_view>
#include <system_error>

#include "minisched/client/errors.h"
#include "minisched/client/keep_alive.h"
#include "minisched/client/operation.h"
#include "minisched/client/tls.h"

namespace minisched {
namespace {

using std::chrono::milliseconds;
using web::http::http_exception;
using web::http::http_request;
using web::http::http_response;

// The server's URL. Throws ConfigError where it is none.
web::uri ServerUri(const RestConfig& config) {
  web::uri uri;
  try {
    uri = web::uri(config.server);
  } catch (const web::uri_exception&) {
    // Not one at all, which shows in its having no host.
  }
  if (uri.host().empty() ||
      (uri.scheme() != "http" && uri.scheme() != "https")) {
    throw ConfigError(config.source + ": the server \"" + config.server +
                      "\" is not an http:// or https:// URL");
  }
  return uri;
}

// "host:port", and "host" where that is the scheme's default.
std::string HostAndPort(const web::uri& uri) {
  return uri.is_port_default() ? uri.host()
                               : uri.host() + ":" + std::to_string(uri.port());
}

int PortOf(const web::uri& uri) {
  if (!uri.is_port_default()) return uri.port();
  return uri.scheme() == "https" ? 443 : 80;
}

// What cpprestsdk is to connect to. It looks the host up as it is in the URL:
// an IPv6 address must have no brackets, and so must have a port behind it.
web::uri ConnectUri(const web::uri& server) {
  const std::string& host = server.host();
  if (host.front() != '[') return server;
  return web::uri(server.scheme() + "://" + host.substr(1, host.size() - 2) +
                  ":" + std::to_string(PortOf(server)) + server.path());
}

// A body that can be read once. cpprestsdk sends a request again, on a new
// connection, when a kept one turns out to be closed, though the server may
// have done by then what the request asked for; it can't without the body.
concurrency::streams::istream ReadOnce(const std::string& body) {
  concurrency::streams::producer_consumer_buffer<std::uint8_t> buffer;
  buffer.putn_nocopy(reinterpret_cast<const std::uint8_t*>(body.data()),
                     body.size());
  buffer.close(std::ios_base::out);
  return buffer.create_istream();
}

http_request ToMessage(const HttpRequest& request) {
  http_request message(request.method);
  web::uri_builder uri(
      web::uri::encode_uri(request.path, web::uri::components::path));
  for (const auto& [key, value] : request.query) {
    uri.append_query(key + "=" + web::uri::encode_data_string(value), false);
  }
  message.set_request_uri(uri.to_uri());
  for (const auto& [name, value] : request.headers) {
    message.headers().add(name, value);
  }
  if (request.method != "GET") {
    const auto type = request.headers.find("Content-Type");
    message.set_body(
        ReadOnce(request.body), request.body.size(),
        type == request.headers.end() ? "application/json" : type->second);
  }
  return message;
}

HttpResponse ToHead(const http_response& response) {
  HttpResponse head;
  head.status = response.status_code();
  for (const auto& [name, value] : response.headers()) {
    std::string lower = name;
    for (char& c : lower) c = static_cast<char>(std::tolower(c));
    head.headers[lower] = value;
  }
  return head;
}

// On the I/O thread, once the headers are there.
pplx::task<HttpResponse> ReadWhole(http_response response) {
  return response.extract_utf8string(true).then(
      [head = ToHead(response)](const std::string& body) {
        HttpResponse whole = head;
        whole.body = body;
        return whole;
      });
}

// On the I/O thread. What there is of a body, but not more than can well be
// copied about; empty at its end. cpprestsdk's own read_line() blocks the
// thread that it would need to go on, once a line is longer than 16 kB.
pplx::task<std::string> ReadSome(
    concurrency::streams::streambuf<std::uint8_t> body) {
  return body.getc().then([body](int first) mutable {
    constexpr std::size_t kMost = 64 << 10;
    if (first == decltype(body)::traits::eof()) {
      return pplx::task_from_result(std::string());
    }
    const auto bytes =
        std::make_shared<std::string>(std::min(body.in_avail(), kMost), '\0');
    return body
        .getn(reinterpret_cast<std::uint8_t*>(bytes->data()), bytes->size())
        .then([bytes](std::size_t size) { return bytes->substr(0, size); });
  });
}

}  // namespace

class Transport::Impl : public std::enable_shared_from_this<Impl> {
 public:
  explicit Impl(const RestConfig& config)
      : server_(config.server),
        uri_(ServerUri(config)),
        host_(HostAndPort(uri_)),
        connect_timeout_(config.connect_timeout),
        request_timeout_(config.request_timeout),
        tls_(config, uri_.host()),
        client_(ConnectUri(uri_), ClientConfig(config)) {}

  HttpResponse Send(const HttpRequest& request, std::stop_token stop) {
    const Cancel cancel;
    const auto operation = Operation<HttpResponse>::Start(
        [self = shared_from_this(), request, cancel](const auto& sent) {
          return self->Request(request, cancel, sent).then(ReadWhole);
        });
    return Await(*operation, cancel, std::move(stop), connect_timeout_,
                 request_timeout_);
  }

  // Returns when the headers are there. Keepalive is for streams: every other
  // request has a deadline.
  http_response Open(const HttpRequest& request, const Cancel& cancel,
                     std::stop_token stop) {
    const auto operation = Operation<http_response>::Start(
        [self = shared_from_this(), request, cancel](const auto& sent) {
          return self->Request(request, cancel, sent)
              .then([port = PortOf(self->uri_)](http_response response) {
                KeepConnectionsAlive(port);
                return response;
              });
        });
    return Await(*operation, cancel, std::move(stop), connect_timeout_,
                 request_timeout_);
  }

  // Waits for an operation's result. One that is given up is cancelled, which
  // closes its connection. Throws TransportError and Cancelled.
  template <class T>
  T Await(Operation<T>& operation, const Cancel& cancel, std::stop_token stop,
          milliseconds send_timeout, milliseconds timeout) {
    using Outcome = typename Operation<T>::Outcome;
    send_timeout = std::min(send_timeout, timeout);
    const Outcome outcome =
        operation.Await(std::move(stop), send_timeout, timeout);
    if (outcome != Outcome::kDone) CancelLater(cancel);
    switch (outcome) {
      case Outcome::kStopped:
        throw Cancelled();
      case Outcome::kNotSent:
        throw Late("no connection", send_timeout);
      case Outcome::kLate:
        throw Late("no answer", timeout);
      case Outcome::kDone:
        break;
    }
    try {
      return operation.Take();
    } catch (const http_exception& error) {
      throw Translate(error.what(), error.error_code().value());
    }
  }

 private:
  web::http::client::http_client_config ClientConfig(const RestConfig& config) {
    web::http::client::http_client_config result;
    // Deadlines are ours: cpprestsdk's is one for connecting and for silence.
    result.set_timeout(std::chrono::hours(24 * 365));
    result.set_max_redirects(0);  // nobody else is to get our token
    result.set_validate_certificates(!config.insecure_skip_tls_verify);
    // Tls asks for the name, where there is one to ask for.
    result.set_tlsext_sni_enabled(false);
    result.set_ssl_context_callback([this](boost::asio::ssl::context& context) {
      tls_.Configure(context.native_handle());
    });
    return result;
  }

  // On the I/O thread.
  template <class T>
  pplx::task<http_response> Request(
      const HttpRequest& request, const Cancel& cancel,
      const std::shared_ptr<Operation<T>>& operation) {
    http_request message = ToMessage(request);
    message.headers().add("Host", host_);
    // The first progress is reported when the headers have been written. Lives
    // as long as the request, and so must its tls_, even if nobody waits.
    message.set_progress_handler([self = shared_from_this(), operation](
                                     auto, auto) { operation->MarkSent(); });
    return client_.request(message, cancel.get_token());
  }

  TransportError Late(const std::string& what, milliseconds limit) const {
    const double seconds = std::chrono::duration<double>(limit).count();
    std::ostringstream message;
    message << server_ << ": " << what << " within " << seconds << " s";
    return {TransportError::Kind::kTimeout, message.str()};
  }

  // cpprestsdk tells what failed in its message alone, and the why, if at all,
  // in a code without its category.
  TransportError Translate(std::string_view what, int code) {
    using Kind = TransportError::Kind;
    const auto make = [this](Kind kind, const std::string& message) {
      return TransportError(kind, server_ + ": " + message);
    };
    if (what.starts_with("Error in SSL handshake")) {
      return make(Kind::kTls, ExplainHandshake(code));
    }
    if (what.starts_with("Error resolving address") ||
        what.starts_with("Failed to resolve address")) {
      return make(Kind::kConnect, "no such host");
    }
    if (what.starts_with("Failed to connect")) {
      // It makes "unreachable" of "refused".
      return make(Kind::kConnect,
                  code == static_cast<int>(std::errc::host_unreachable)
                      ? "connection refused, or no route to it"
                      : std::generic_category().message(code));
    }
    if (what.starts_with("Invalid HTTP status line")) {
      return make(Kind::kProtocol, "does not speak HTTP");
    }
    // With TLS 1.3 the server sees our certificate after the handshake.
    const auto error =
        static_cast<unsigned long>(static_cast<unsigned int>(code));
    if (ERR_GET_LIB(error) == ERR_LIB_SSL &&
        ERR_GET_REASON(error) > SSL_AD_REASON_OFFSET) {
      return make(Kind::kTls, ExplainHandshake(code));
    }
    return make(Kind::kLost, "connection lost: " + std::string(what));
  }

  std::string ExplainHandshake(int code) {
    std::string refused = tls_.TakeError();
    if (!refused.empty()) return refused;
    const auto error =
        static_cast<unsigned long>(static_cast<unsigned int>(code));
    if (ERR_GET_LIB(error) == ERR_LIB_SSL &&
        ERR_GET_REASON(error) == SSL_R_WRONG_VERSION_NUMBER) {
      return "the server does not speak TLS; is it an http:// one?";
    }
    const char* reason = ERR_reason_error_string(error);
    return std::string("TLS handshake failed: ") +
           (reason == nullptr ? "connection lost" : reason);
  }

  const std::string server_;
  const web::uri uri_;
  const std::string host_;
  const milliseconds connect_timeout_;
  const milliseconds request_timeout_;
  Tls tls_;
  web::http::client::http_client client_;
};

// A response whose headers have been read.
class Transport::Stream final : public HttpStream {
 public:
  Stream(std::shared_ptr<Impl> transport, http_response response, Cancel cancel,
         std::stop_token stop, milliseconds idle_timeout)
      : transport_(std::move(transport)),
        head_(ToHead(response)),
        body_(response.body()),
        cancel_(std::move(cancel)),
        stop_(std::move(stop)),
        idle_timeout_(idle_timeout) {}

  ~Stream() override { CancelLater(cancel_); }

  const HttpResponse& head() const override { return head_; }

  std::optional<std::string> ReadLine() override {
    std::size_t end = 0;
    while ((end = read_.find('\n')) == std::string::npos) {
      const std::string more = ReadMore();
      if (more.empty()) {
        if (read_.empty()) return std::nullopt;
        return std::exchange(read_, "");
      }
      read_ += more;
    }
    std::string line = read_.substr(0, end);
    read_.erase(0, end + 1);
    if (line.ends_with('\r')) line.pop_back();
    return line;
  }

 private:
  // Waits for more of the body; empty at its end.
  std::string ReadMore() {
    const auto operation = Operation<std::string>::Start(
        [body = body_.streambuf()](const auto& reading) {
          reading->MarkSent();  // long since
          return ReadSome(body);
        });
    return transport_->Await(*operation, cancel_, stop_, idle_timeout_,
                             idle_timeout_);
  }

  const std::shared_ptr<Impl> transport_;
  const HttpResponse head_;
  const concurrency::streams::istream body_;
  const Cancel cancel_;
  const std::stop_token stop_;
  const milliseconds idle_timeout_;
  std::string read_;  // and not yet returned
};

Transport::Transport(const RestConfig& config) {
  IoService();  // before the HTTP client would make a pool of its own
  impl_ = std::make_shared<Impl>(config);
}

Transport::~Transport() = default;

HttpResponse Transport::Send(const HttpRequest& request, std::stop_token stop) {
  return impl_->Send(request, std::move(stop));
}

std::unique_ptr<HttpStream> Transport::Open(const HttpRequest& request,
                                            milliseconds idle_timeout,
                                            std::stop_token stop) {
  Cancel cancel;
  http_response response = impl_->Open(request, cancel, stop);
  return std::make_unique<Stream>(impl_, std::move(response), std::move(cancel),
                                  std::move(stop), idle_timeout);
}

}  // namespace minisched
