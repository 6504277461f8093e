#include "minisched/http/session.h"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <string_view>

#include "minisched/base/log.h"
#include "minisched/http/local.h"

namespace minisched::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::seconds;

// The largest header of a request. Go's net/http has the same default.
constexpr std::size_t kMaxHeader = 1 << 20;
// The largest name or value of a field that Beast's container can hold.
constexpr std::size_t kMaxField = (1 << 16) - 3;
// Time limits of a connection.
constexpr seconds kReading{180};  // until the next request is complete
constexpr seconds kWriting{30};   // until a part of a response has been sent
constexpr seconds kDraining{30};  // for DrainAndClose()
constexpr std::size_t kReadAtOnce = 4 << 10;
constexpr std::size_t kMaxReadAhead = 16 << 10;  // by AwaitDisconnect()
constexpr std::size_t kMaxShown = 256;           // of a path, in the log

constexpr unsigned kHttp11 = 11;  // as Beast writes HTTP/1.1
constexpr char kExpectContinue[] = "100-continue";
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

std::string ToText(beast::string_view text) {
  return {text.data(), text.size()};
}

bool IsAllowedHost(std::string host) {
  host = WithoutPort(std::move(host));
  boost::trim_if(host, boost::is_any_of("[]"));
  error_code not_an_address;
  asio::ip::make_address(host, not_an_address);
  return boost::iequals(host, "localhost") || !not_an_address;
}

// True if the client's address is a loopback address, perhaps as IPv6.
bool IsLocal(const tcp::socket& socket) {
  error_code not_connected;
  const auto address = socket.remote_endpoint(not_connected).address();
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) {
    return address.is_loopback();
  }
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6())
      .is_loopback();
}

// Returns the reply to a request that must not reach the handler, whatever its
// path. Go's net/http refuses the same requests.
std::optional<Reply> Refusal(
    const beast::http::request_header<beast::http::fields>& header) {
  const auto hosts = header.count(beast::http::field::host);
  if (hosts > 1) {
    return TextReply("400 Bad Request: too many Host headers", 400);
  }
  if (hosts == 0 && header.version() >= kHttp11) {
    return TextReply("400 Bad Request: missing required Host header", 400);
  }
  const auto expect = header[beast::http::field::expect];
  if (!expect.empty() && !beast::iequals(expect, kExpectContinue)) {
    return TextReply("417 Expectation Failed", 417);
  }
  return std::nullopt;
}

}  // namespace

// Reads a request.
class HttpServer::Session::Parser
    : public beast::http::request_parser<beast::http::string_body> {
 private:
  // Stores a field. Beast's own function would throw for a field that is too
  // long, and the exception would leave the event loop.
  void on_field_impl(beast::http::field id, beast::string_view name,
                     beast::string_view value, error_code& error) override {
    if (std::max(name.size(), value.size()) > kMaxField) {
      error = beast::http::error::header_limit;
    } else {
      get().insert(id, name, value);
    }
  }
};

// Lets the handler answer one request. If the ticket is destroyed without an
// answer, for example because a later task of the handler throws, closes the
// connection.
class HttpServer::Session::Ticket {
 public:
  explicit Ticket(std::weak_ptr<Session> session)
      : session_(std::move(session)) {}
  ~Ticket() {
    const auto session = session_.lock();
    if (!session || !session->waiting_) return;
    // BreakOff() runs later, so that Fail() answers first if the handler is
    // throwing now.
    asio::post(session->stream_.get_executor(), [weak = session_] {
      const auto still = weak.lock();
      if (still && still->waiting_) still->BreakOff();
    });
  }
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;

  void Answer(Reply reply) {
    const auto session = std::exchange(session_, {}).lock();
    if (!session || !session->waiting_) return;
    session->Try([&] { session->Answer(std::move(reply)); });
  }

 private:
  std::weak_ptr<Session> session_;
};

HttpServer::Session::Session(HttpServer& server, tcp::socket socket)
    : server_(server),
      stream_(std::move(socket)),
      timer_(stream_.get_executor()) {}

HttpServer::Session::~Session() = default;

void HttpServer::Session::Start() {
  Try([this] { Read(); });
}

void HttpServer::Session::Close() {
  closing_ = true;
  if (writing_) return;
  if (reply_.stream) return Try([this] { Write(); });
  BreakOff();
}

void HttpServer::Session::BreakOff() {
  waiting_ = false;
  awaiting_disconnect_ = false;
  reply_.stream.reset();
  stream_.close();
  server_.sessions_.erase(shared_from_this());
}

std::string HttpServer::Session::Shown() const {
  if (!parser_) return "a new connection";
  const auto& message = parser_->get();
  return ToText(message.method_string()) + " " +
         ToText(message.target().substr(0, kMaxShown));
}

void HttpServer::Session::Fail(const std::exception& error) {
  spdlog::error("failed to answer {}: {}", Shown(), error.what());
  if (!parser_ || std::exchange(begun_, true)) return BreakOff();
  response_ = {};
  closing_ = true;
  Try([&] {
    Answer(server_.options_.error_reply(
        500, std::string("Internal error occurred: ") + error.what()));
  });
}

void HttpServer::Session::Read() {
  response_ = {};
  begun_ = false;
  parser_ = std::make_unique<Parser>();
  parser_->body_limit(server_.options_.max_body);
  parser_->header_limit(kMaxHeader);
  stream_.expires_after(kReading);
  beast::http::async_read_header(stream_, buffer_, *parser_,
                                 Then(&Session::OnHeader));
}

void HttpServer::Session::OnHeader(error_code error, std::size_t /*size*/) {
  if (error) return OnReadError(error);
  const auto& header = parser_->get();
  if (auto refusal = Refusal(header)) return Refuse(std::move(*refusal));
  const bool expects = header.count(beast::http::field::expect) > 0;
  if (expects && header.version() >= kHttp11 && !parser_->is_done()) {
    return SendContinue();
  }
  ReadBody();
}

void HttpServer::Session::SendContinue() {
  asio::async_write(stream_, asio::buffer(kContinue),
                    Then(&Session::OnContinued));
}

void HttpServer::Session::OnContinued(error_code error, std::size_t /*size*/) {
  if (error) return BreakOff();
  ReadBody();
}

void HttpServer::Session::ReadBody() {
  beast::http::async_read(stream_, buffer_, *parser_,
                          Then(&Session::OnRequest));
}

void HttpServer::Session::OnRequest(error_code error, std::size_t /*size*/) {
  error ? OnReadError(error) : Handle();
}

void HttpServer::Session::OnReadError(error_code error) {
  using HttpError = beast::http::error;
  if (error == HttpError::body_limit) {
    return Refuse(server_.options_.error_reply(
        413, "Request entity too large: limit is " +
                 std::to_string(server_.options_.max_body)));
  }
  if (error == HttpError::header_limit) {
    return Refuse(TextReply("431 Request Header Fields Too Large", 431));
  }
  const bool malformed =
      error.category() == make_error_code(HttpError::bad_method).category() &&
      error != HttpError::end_of_stream;
  malformed ? Refuse(TextReply("400 Bad Request", 400)) : BreakOff();
}

void HttpServer::Session::Refuse(Reply reply) {
  closing_ = true;
  Answer(std::move(reply));
}

void HttpServer::Session::Handle() {
  if (!stream_.socket().is_open()) return;  // closed after the read
  auto& message = parser_->get();
  response_.keep_alive(message.keep_alive());
  Request request{.method = ToText(message.method_string()),
                  .is_local = IsLocal(stream_.socket())};
  for (const auto& field : message) {
    request.headers[boost::to_lower_copy(ToText(field.name_string()))] =
        ToText(field.value());
  }
  request.body = std::move(message.body());
  if (!IsAllowedHost(request.Header("host"))) {
    return Answer(
        TextReply("Host must be localhost or an IP address, so that no web "
                  "page can reach this server\n",
                  403));
  }
  if (!ParseTarget(ToText(message.target()), request)) {
    return Answer(TextReply("malformed path or query\n", 400));
  }
  waiting_ = true;
  AwaitDisconnect();
  server_.handler_(std::move(request),
                   [ticket = std::make_shared<Ticket>(weak_from_this())](
                       Reply reply) { ticket->Answer(std::move(reply)); });
}

void HttpServer::Session::AwaitDisconnect() {
  awaiting_disconnect_ = true;
  stream_.socket().async_read_some(buffer_.prepare(kReadAtOnce),
                                   Then(&Session::OnReadAhead));
}

void HttpServer::Session::OnReadAhead(error_code error, std::size_t size) {
  buffer_.commit(size);
  if (!std::exchange(awaiting_disconnect_, false)) return;
  if (error) return BreakOff();
  if (buffer_.size() < kMaxReadAhead) AwaitDisconnect();
}

void HttpServer::Session::StopAwaitingDisconnect() {
  awaiting_disconnect_ = false;
  error_code ignored;
  stream_.socket().cancel(ignored);
}

void HttpServer::Session::Answer(Reply reply) {
  if (reply.delivery == Reply::Delivery::kWithheld) return;
  if (reply.delivery == Reply::Delivery::kDropped) return BreakOff();
  waiting_ = false;
  reply_ = std::move(reply);
  response_.result(static_cast<unsigned>(reply_.status));
  response_.set(beast::http::field::content_type, reply_.content_type);
  response_.set(beast::http::field::cache_control, "no-cache, private");
  for (const auto& [name, value] : server_.options_.headers) {
    response_.set(name, value);
  }
  for (const auto& [name, value] : reply_.headers) {
    response_.insert(name, value);
  }
  if (closing_) response_.keep_alive(false);
  if (reply_.stream) {
    response_.chunked(true);
  } else {
    StopAwaitingDisconnect();
    // 204 and 304 never have a body, nor its length.
    if (reply_.status != 204 && reply_.status != 304) {
      response_.content_length(reply_.body.size());
    }
    if (parser_->get().method() == beast::http::verb::head) reply_.body.clear();
  }
  serializer_.emplace(response_);
  begun_ = true;
  reply_.stream ? StartStream() : Write();
}

void HttpServer::Session::StartStream() {
  // Write() runs later, because the caller of on_ready may be in the middle
  // of a change, and because Write() may destroy the stream.
  reply_.stream->on_ready = [weak = weak_from_this(),
                             executor = stream_.get_executor()] {
    asio::post(executor, [weak] {
      const auto self = weak.lock();
      if (!self || !self->reply_.stream || self->writing_) return;
      self->Try([&] { self->Write(); });
    });
  };
  writing_ = true;
  stream_.expires_after(kWriting);
  beast::http::async_write_header(stream_, *serializer_,
                                  Then(&Session::OnStarted));
}

void HttpServer::Session::OnStarted(error_code error, std::size_t /*size*/) {
  if (error || !reply_.stream) return BreakOff();
  writing_ = false;
  Write();
}

void HttpServer::Session::Write() {
  auto& part = response_.body();
  part.more = false;
  if (reply_.stream) {
    reply_.body.clear();
    part.more = reply_.stream->Read(reply_.body) && !closing_;
    if (!part.more && reply_.stream->broken_off()) return BreakOff();
  }
  const bool nothing = reply_.body.empty();
  if (nothing && part.more) return AwaitPeriod();
  if (reply_.stream && !part.more) StopAwaitingDisconnect();
  part.data = nothing ? nullptr : reply_.body.data();
  part.size = reply_.body.size();
  writing_ = true;
  stream_.expires_after(kWriting);
  beast::http::async_write(stream_, *serializer_, Then(&Session::OnWritten));
}

void HttpServer::Session::AwaitPeriod() {
  if (reply_.stream->period.count() == 0) return;
  timer_.expires_after(reply_.stream->period);
  timer_.async_wait([weak = weak_from_this()](error_code aborted) {
    const auto self = weak.lock();
    if (aborted || !self || !self->reply_.stream || self->writing_) return;
    self->Try([&] { self->Write(); });
  });
}

void HttpServer::Session::OnWritten(error_code error, std::size_t /*size*/) {
  writing_ = false;
  const bool has_more = error == beast::http::error::need_buffer;
  if (has_more && reply_.stream) return Write();
  if (reply_.on_sent) reply_.on_sent();
  if (error) return BreakOff();
  reply_.stream.reset();
  if (!response_.keep_alive()) return DrainAndClose();
  closing_ ? BreakOff() : Read();
}

void HttpServer::Session::DrainAndClose() {
  error_code ignored;
  stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
  stream_.expires_after(kDraining);
  Drain();
}

void HttpServer::Session::Drain() {
  buffer_.clear();
  stream_.async_read_some(buffer_.prepare(kReadAtOnce),
                          Then(&Session::OnDrained));
}

void HttpServer::Session::OnDrained(error_code error, std::size_t /*size*/) {
  if (error) return BreakOff();
  Drain();
}

}  // namespace minisched::http
