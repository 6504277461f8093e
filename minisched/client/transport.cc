#include "minisched/client/transport.h"

#include <cpprest/http_client.h>
#include <cpprest/producerconsumerstream.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/ssl.hpp>
#include <cctype>

#include "minisched/base/file_limit.h"
#include "minisched/client/errors.h"
#include "minisched/client/keep_alive.h"
#include "minisched/client/operation.h"
#include "minisched/client/tls.h"
#include "minisched/client/transport_errors.h"

namespace minisched {
namespace {

using std::chrono::milliseconds;
using web::http::http_request;
using web::http::http_response;

// An answer whose headers are there. `head` has the body too if the answer is
// no success.
struct Opened {
  http_response response;
  HttpResponse head;
};

// The server's URL. Throws ConfigError if it is not a URL.
web::uri ServerUri(const RestConfig& config) {
  web::uri uri;
  try {
    uri = web::uri(config.server);
  } catch (const web::uri_exception&) {
    // Without a host: refused below.
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

// The URL that cpprestsdk connects to. cpprestsdk looks up the host as it is in
// the URL, so an IPv6 address must have no brackets, and must have a port.
web::uri ConnectUri(const web::uri& server) {
  const std::string& host = server.host();
  if (host.front() != '[') return server;
  return web::uri(server.scheme() + "://" + host.substr(1, host.size() - 2) +
                  ":" + std::to_string(PortOf(server)) + server.path());
}

// A body that can be read once. When a kept connection turns out to be closed,
// cpprestsdk sends the request again on a new one, although the server may have
// executed it. Without the body, cpprestsdk can't.
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
      [head = ToHead(response)](std::string body) {
        HttpResponse whole = head;
        whole.body = std::move(body);
        return whole;
      });
}

// How many bytes of a stream's body have been read from cpprestsdk's buffer.
using BytesRead = std::shared_ptr<std::atomic<std::uint64_t>>;

// The most bytes that are read at once.
constexpr std::size_t kMostBytes = 64 << 10;

// On the I/O thread. Reads what has come of a body, up to kMostBytes; nothing
// at its end. cpprestsdk's own read_line() blocks the I/O thread, which it
// needs to go on, if a line is longer than 16 KiB.
pplx::task<std::string> ReadSome(
    concurrency::streams::streambuf<std::uint8_t> body) {
  return body.getc().then([body](int first) mutable {
    if (first == decltype(body)::traits::eof()) {
      return pplx::task_from_result(std::string());
    }
    const auto bytes = std::make_shared<std::string>(
        std::min(body.in_avail(), kMostBytes), '\0');
    return body
        .getn(reinterpret_cast<std::uint8_t*>(bytes->data()), bytes->size())
        .then([bytes](std::size_t size) { return bytes->substr(0, size); });
  });
}

}  // namespace

class Transport::Impl : public std::enable_shared_from_this<Impl> {
 public:
  explicit Impl(const RestConfig& config)
      : uri_(ServerUri(config)),
        host_(HostAndPort(uri_)),
        connect_timeout_(config.connect_timeout),
        request_timeout_(config.request_timeout),
        max_response_(config.max_response_bytes),
        max_line_(config.max_line_bytes),
        tls_(config, uri_.host()),
        errors_(config.server, tls_),
        gate_(config.max_in_flight),
        client_(ConnectUri(uri_), ClientConfig(config)) {}

  void SendAsync(const HttpRequest& request, std::stop_token stop,
                 ClientCallback<HttpResponse> done) {
    const Cancel cancel;
    OperationOptions options = RequestOptions(cancel, std::move(stop));
    options.gate = {shared_from_this(), &gate_};
    Operation<HttpResponse>::Start(
        std::move(options),
        [self = shared_from_this(), request, cancel](const auto& sending) {
          return self->Request(request, cancel, nullptr, sending)
              .then([self, cancel](const http_response& response) {
                self->CheckLength(response, cancel);
                return ReadWhole(response);
              });
        },
        std::move(done));
  }

  // Calls back when the headers are there, and, if the answer is no success,
  // the body. Keepalive is for streams: every other request has a deadline.
  void OpenAsync(const HttpRequest& request, const Cancel& cancel,
                 const BytesRead& read, std::stop_token stop,
                 ClientCallback<Opened> done) {
    Operation<Opened>::Start(
        RequestOptions(cancel, std::move(stop)),
        [self = shared_from_this(), request, cancel,
         read](const auto& opening) {
          return self->Request(request, cancel, read, opening)
              .then([self, cancel](const http_response& response) {
                if (!IsSuccess(response.status_code())) {
                  self->CheckLength(response, cancel);
                  return ReadWhole(response).then(
                      [response](const HttpResponse& whole) {
                        return Opened{response, whole};
                      });
                }
                KeepConnectionsAlive(PortOf(self->uri_));
                return pplx::task_from_result(
                    Opened{response, ToHead(response)});
              });
        },
        std::move(done));
  }

  std::size_t max_line() const { return max_line_; }
  const TransportErrors& errors() const { return errors_; }

  // Calls back with more of a body; with nothing at its end.
  void ReadAsync(const concurrency::streams::istream& body,
                 const Cancel& cancel, std::stop_token stop,
                 milliseconds timeout, ClientCallback<std::string> done) {
    Operation<std::string>::Start(
        {.stop = std::move(stop),
         .send_timeout = timeout,
         .timeout = timeout,
         .cancel = cancel,
         .errors = {shared_from_this(), &errors_}},
        [body = body.streambuf()](const auto& reading) {
          reading->MarkSent();  // the request was sent before
          return ReadSome(body);
        },
        std::move(done));
  }

 private:
  web::http::client::http_client_config ClientConfig(const RestConfig& config) {
    web::http::client::http_client_config result;
    // Deadlines are ours: cpprestsdk's is one for connecting and for silence.
    result.set_timeout(std::chrono::hours(24 * 365));
    result.set_max_redirects(0);  // no other server may get our token
    result.set_validate_certificates(!config.insecure_skip_tls_verify);
    // Tls sets the server's name, if there is one.
    result.set_tlsext_sni_enabled(false);
    result.set_ssl_context_callback([this](boost::asio::ssl::context& context) {
      tls_.Configure(context.native_handle());
    });
    return result;
  }

  OperationOptions RequestOptions(const Cancel& cancel, std::stop_token stop) {
    return {.stop = std::move(stop),
            .send_timeout = connect_timeout_,
            .timeout = request_timeout_,
            .cancel = cancel,
            .errors = {shared_from_this(), &errors_}};
  }

  TransportError ResponseTooLarge() const {
    return errors_.TooLarge("the response is larger than ", max_response_);
  }

  // Throws and closes the connection if a body will be too large.
  void CheckLength(const http_response& response, const Cancel& cancel) const {
    if (response.headers().content_length() <= max_response_) return;
    cancel.cancel();
    throw ResponseTooLarge();
  }

  // Throws if the bytes that were received but not read are too many. `read` is
  // null if the body is read only when it is complete.
  void CheckReceived(std::uint64_t received, const BytesRead& read) const {
    if (received > max_response_ + (read ? read->load() : 0)) {
      throw ResponseTooLarge();
    }
  }

  // On the I/O thread.
  template <class T>
  pplx::task<http_response> Request(
      const HttpRequest& request, const Cancel& cancel, const BytesRead& read,
      const std::shared_ptr<Operation<T>>& operation) {
    request.WaitsFor("a connection");
    http_request message = ToMessage(request);
    message.headers().add("Host", host_);
    // The first progress is reported when the headers have been written. The
    // handler lives as long as the request, and so must tls_, even when the
    // operation was given up. If the handler throws, cpprestsdk closes the
    // connection and ends the response with this error.
    message.set_progress_handler(
        [self = shared_from_this(), operation, on_wait = request.on_wait, read](
            web::http::message_direction::direction direction, auto bytes) {
          if (operation->MarkSent() && on_wait) on_wait("the response");
          if (direction == web::http::message_direction::download) {
            self->CheckReceived(bytes, read);
          }
        });
    return client_.request(message, cancel.get_token());
  }

  const web::uri uri_;
  const std::string host_;
  const milliseconds connect_timeout_;
  const milliseconds request_timeout_;
  const std::size_t max_response_;
  const std::size_t max_line_;
  Tls tls_;
  TransportErrors errors_;
  RequestGate gate_;
  web::http::client::http_client client_;
};

// A response whose headers have been read.
class Transport::Stream final : public HttpStream {
 public:
  Stream(std::shared_ptr<Impl> transport, const Opened& opened, Cancel cancel,
         BytesRead bytes_read, std::stop_token stop, milliseconds idle_timeout)
      : transport_(std::move(transport)),
        head_(opened.head),
        body_(opened.response.body()),
        cancel_(std::move(cancel)),
        bytes_read_(std::move(bytes_read)),
        stop_(std::move(stop)),
        idle_timeout_(idle_timeout) {}

  ~Stream() override { CancelLater(cancel_); }

  const HttpResponse& head() const override { return head_; }

  std::optional<std::string> ReadLine() override {
    std::size_t searched = 0;
    std::size_t end = 0;
    while ((end = read_.find('\n', searched)) == std::string::npos) {
      CheckLine(read_.size());
      searched = read_.size();
      const std::string more = ReadMore();
      if (more.empty()) {
        if (read_.empty()) return std::nullopt;
        return std::exchange(read_, "");
      }
      read_ += more;
    }
    CheckLine(end);
    std::string line = read_.substr(0, end);
    read_.erase(0, end + 1);
    if (line.ends_with('\r')) line.pop_back();
    return line;
  }

  void SetReadDelay(milliseconds delay, Clock& clock) override {
    read_delay_ = delay;
    clock_ = &clock;
  }

 private:
  // Throws if a line of this size is too long.
  void CheckLine(std::size_t size) const {
    if (size > transport_->max_line()) {
      throw transport_->errors().TooLarge(
          "a line of the response is longer than ", transport_->max_line());
    }
  }

  // Blocks until there is more of the body; empty at its end.
  std::string ReadMore() {
    if (read_all_ && read_delay_ > milliseconds(0)) {
      clock_->SleepFor(read_delay_, stop_);
    }
    std::string more = Await<std::string>([this](auto done) {
      transport_->ReadAsync(body_, cancel_, stop_, idle_timeout_,
                            std::move(done));
    });
    *bytes_read_ += more.size();
    read_all_ = more.size() < kMostBytes;
    return more;
  }

  const std::shared_ptr<Impl> transport_;
  const HttpResponse head_;
  const concurrency::streams::istream body_;
  const Cancel cancel_;
  const BytesRead bytes_read_;
  const std::stop_token stop_;
  const milliseconds idle_timeout_;
  milliseconds read_delay_{0};
  Clock* clock_ = nullptr;  // for read_delay_
  bool read_all_ = true;    // false: the last read may have left some data
  std::string read_;        // and not yet returned
};

Transport::Transport(const RestConfig& config) {
  RaiseFileLimit();
  IoService();  // before the HTTP client would make a pool of its own
  impl_ = std::make_shared<Impl>(config);
}

Transport::~Transport() = default;

void Transport::SendAsync(const HttpRequest& request, std::stop_token stop,
                          ClientCallback<HttpResponse> done) {
  impl_->SendAsync(request, std::move(stop), std::move(done));
}

void Transport::OpenAsync(const HttpRequest& request, milliseconds idle_timeout,
                          std::stop_token stop,
                          ClientCallback<std::unique_ptr<HttpStream>> done) {
  const Cancel cancel;
  const auto read = std::make_shared<std::atomic<std::uint64_t>>(0);
  impl_->OpenAsync(
      request, cancel, read, stop,
      [impl = impl_, cancel, read, stop, idle_timeout,
       done = std::move(done)](ClientResult<Opened> opened) {
        if (!opened) {
          return done(tl::make_unexpected(std::move(opened).error()));
        }
        done(std::make_unique<Stream>(impl, *opened, cancel, read, stop,
                                      idle_timeout));
      });
}

HttpResponse Transport::Send(const HttpRequest& request, std::stop_token stop) {
  return Await<HttpResponse>(
      [&](auto done) { SendAsync(request, std::move(stop), std::move(done)); });
}

std::unique_ptr<HttpStream> Transport::Open(const HttpRequest& request,
                                            milliseconds idle_timeout,
                                            std::stop_token stop) {
  return Await<std::unique_ptr<HttpStream>>([&](auto done) {
    OpenAsync(request, idle_timeout, std::move(stop), std::move(done));
  });
}

}  // namespace minisched
