#include "minisched/apiserver/http/http_session.h"

#include <boost/algorithm/string.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "minisched/apiserver/errors.h"

namespace minisched::apiserver {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;
using std::chrono::seconds;

constexpr std::size_t kMaxBody = 3 << 20;
constexpr std::size_t kMaxHeader = 16 << 10;
// How long a client may take for its next request, may leave unread what it
// asked for, and is heard out after that.
constexpr seconds kIdle{180};
constexpr seconds kWriting{30};
constexpr seconds kDraining{30};

bool IsOwnHost(std::string host) {
  const auto colon = host.rfind(':');
  if (colon != host.npos && host.find(']', colon) == host.npos) {
    host.resize(colon);
  }
  boost::trim_if(host, boost::is_any_of("[]"));
  error_code not_an_address;
  asio::ip::make_address(host, not_an_address);
  return boost::iequals(host, "localhost") || !not_an_address;
}

}  // namespace

HttpServer::Session::Session(HttpServer& server, asio::ip::tcp::socket socket)
    : server_(&server), stream_(std::move(socket)) {
  server_->sessions_.insert(this);
}

HttpServer::Session::~Session() {
  if (server_ != nullptr) server_->sessions_.erase(this);
}

void HttpServer::Session::Read() {
  if (closing_) return Shut();
  parser_.emplace();
  parser_->body_limit(kMaxBody);
  parser_->header_limit(kMaxHeader);
  stream_.expires_after(kIdle);
  http::async_read(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](error_code error, std::size_t) {
        if (!error) return self->Handle();
        if (error != http::error::body_limit) return self->Shut();
        self->closing_ = true;
        self->Answer(StatusError(413, "RequestEntityTooLarge",
                                 "Request entity too large: limit is " +
                                     std::to_string(kMaxBody))
                         .ToReply());
      });
}

void HttpServer::Session::Close(bool server_is_gone) {
  closing_ = true;
  if (server_is_gone) {
    server_ = nullptr;
    return Shut();
  }
  if (reply_.stream) {
    ended_ = true;
    if (!writing_) WriteStream();
  } else if (waiting_ || !busy_) {
    Shut();
  }
}

void HttpServer::Session::BreakOff() {
  closing_ = true;
  Shut();
}

void HttpServer::Session::Handle() {
  busy_ = true;
  auto message = parser_->release();
  Request request;
  request.method = message.method_string().to_string();
  for (const auto& field : message) {
    request.headers[boost::to_lower_copy(field.name_string().to_string())] =
        field.value().to_string();
  }
  request.body = std::move(message.body());
  keep_alive_ = message.keep_alive();
  const std::string target = message.target().to_string();
  if (!IsOwnHost(request.Header("host"))) {
    return Answer(
        TextReply("Host has to be localhost or an IP address, so that no web "
                  "page can reach this server\n",
                  403));
  }
  if (!ParseTarget(target, request)) {
    return Answer(TextReply("malformed path or query\n", 400));
  }
  if (server_ == nullptr) return Shut();
  waiting_ = shared_from_this();
  server_->handler_(std::move(request), [weak = weak_from_this()](Reply reply) {
    const auto self = weak.lock();
    if (self && self->waiting_) {
      self->Deliver(std::move(reply));
    }
  });
  if (waiting_ && closing_) return Shut();
  if (waiting_) AwaitAnswer();
}

void HttpServer::Session::AwaitAnswer() {
  stream_.socket().async_wait(
      asio::ip::tcp::socket::wait_read,
      [self = shared_from_this()](error_code error) {
        if (error || !self->waiting_) return;
        if (self->stream_.socket().available(error) == 0) self->Shut();
      });
}

void HttpServer::Session::Deliver(Reply reply) {
  if (reply.delivery == Reply::Delivery::kWithheld) return;
  if (reply.delivery == Reply::Delivery::kDropped) return Shut();
  waiting_.reset();
  error_code ignored;
  stream_.socket().cancel(ignored);
  Answer(std::move(reply));
}

void HttpServer::Session::Answer(Reply reply) {
  reply_ = std::move(reply);
  if (reply_.stream) return StartStream();
  response_ = {};
  FillHeader(response_);
  response_.body() = std::move(reply_.body);
  response_.prepare_payload();
  stream_.expires_after(kWriting);
  http::async_write(stream_, response_,
                    [self = shared_from_this()](error_code error, std::size_t) {
                      self->busy_ = false;
                      if (self->reply_.on_sent) self->reply_.on_sent();
                      // What the library calls the end of an answer without
                      // keep-alive.
                      if (error == http::error::end_of_stream) error = {};
                      if (error) return self->Shut();
                      if (self->keep_alive_) return self->Read();
                      self->Finish();
                    });
}

template <class Message>
void HttpServer::Session::FillHeader(Message& message) {
  message.version(11);
  message.result(static_cast<unsigned>(reply_.status));
  message.set(http::field::content_type, reply_.content_type);
  message.set(http::field::cache_control, "no-cache, private");
  for (const auto& [name, value] : reply_.headers) {
    message.insert(name, value);
  }
  keep_alive_ = keep_alive_ && !closing_;
  message.keep_alive(keep_alive_);
}

void HttpServer::Session::StartStream() {
  stream_header_ = {};
  keep_alive_ = false;  // Nothing follows a stream.
  FillHeader(stream_header_);
  stream_header_.chunked(true);
  // Posted: whoever changes something must not get to write from within.
  reply_.stream->on_ready = [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && !self->writing_) self->WriteStream();
  };
  writing_ = true;
  stream_serializer_.emplace(stream_header_);
  http::async_write_header(
      stream_, *stream_serializer_,
      [self = shared_from_this()](error_code error, std::size_t) {
        if (error) return self->Shut();
        self->AwaitLeave();
        self->WriteStream();
      });
}

void HttpServer::Session::WriteStream() {
  if (!reply_.stream) return;
  chunk_.clear();
  if (!reply_.stream->Read(chunk_)) ended_ = true;
  writing_ = true;
  if (ended_ && reply_.stream->broken_off()) {
    // Posted: it may be the stream that is calling.
    return asio::post(stream_.get_executor(),
                      [self = shared_from_this()] { self->Shut(); });
  }
  if (chunk_.empty() && !ended_) {
    writing_ = false;
    stream_.expires_never();
    return;
  }
  stream_.expires_after(kWriting);
  if (chunk_.empty()) {
    asio::async_write(
        stream_, http::make_chunk_last(),
        [self = shared_from_this()](error_code, std::size_t) { self->Shut(); });
    return;
  }
  asio::async_write(stream_, http::make_chunk(asio::buffer(chunk_)),
                    [self = shared_from_this()](error_code error, std::size_t) {
                      if (error) return self->Shut();
                      self->WriteStream();
                    });
}

void HttpServer::Session::AwaitLeave() {
  stream_.socket().async_receive(
      asio::buffer(unexpected_),
      [self = shared_from_this()](error_code error, std::size_t) {
        if (error) return self->Shut();
        self->AwaitLeave();
      });
}

void HttpServer::Session::Finish() {
  error_code ignored;
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  stream_.expires_after(kDraining);
  Drain();
}

void HttpServer::Session::Drain() {
  stream_.async_read_some(
      asio::buffer(unexpected_),
      [self = shared_from_this()](error_code error, std::size_t) {
        if (error) return self->Shut();
        self->Drain();
      });
}

void HttpServer::Session::Shut() {
  const auto self = std::move(waiting_);
  reply_.stream.reset();
  error_code ignored;
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
  stream_.close();
}

}  // namespace minisched::apiserver
