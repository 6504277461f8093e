#include "lab/apiserver/http/http_server.h"

#include <spdlog/spdlog.h>

#include <boost/algorithm/string.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/lexical_cast.hpp>
#include <exception>
#include <optional>
#include <utility>

#include "lab/apiserver/errors.h"
#include "lab/apiserver/limits.h"

namespace minisched::apiserver {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::seconds;

constexpr std::size_t kMaxHeader = 16 << 10;
// Time limits of a connection.
constexpr seconds kReading{180};  // until the next request is complete
constexpr seconds kWriting{30};   // until a part of an answer has been sent
constexpr seconds kDraining{30};  // for DrainAndClose()
constexpr std::size_t kReadAtOnce = 4 << 10;
constexpr std::size_t kMaxShown = 256;  // of a path, in the log
constexpr std::chrono::milliseconds kAcceptRetry{100};

std::string ToText(beast::string_view text) {
  return {text.data(), text.size()};
}

bool IsAllowedHost(std::string host) {
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

// One connection. It is open as long as it is in the server's sessions_.
class HttpServer::Session : public std::enable_shared_from_this<Session> {
 public:
  Session(HttpServer& server, tcp::socket socket)
      : server_(server), stream_(std::move(socket)) {}

  void Start() {
    Try([this] { Read(); });
  }

  // Ends the connection because the server closes. An answer in progress is
  // completed.
  void Close() {
    closing_ = true;
    if (writing_) return;
    if (reply_.stream) return Try([this] { Write(); });
    BreakOff();
  }

  // Closes the connection at once, as if it were lost.
  void BreakOff() {
    waiting_ = false;
    awaiting_disconnect_ = false;
    reply_.stream.reset();
    stream_.close();
    server_.sessions_.erase(shared_from_this());
  }

 private:
  // Lets the handler answer one request. If the ticket is destroyed without an
  // answer, for example because a later task of the handler throws, closes the
  // connection.
  class Ticket {
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

  // Runs one step of the connection and calls Fail() if the step throws. Each
  // request is then answered, or its connection is closed. All callbacks that
  // may throw go through Try() or Then().
  template <class Step>
  void Try(const Step& step) {
    try {
      step();
    } catch (const std::exception& error) {
      Fail(error);
    }
  }

  // Returns a completion handler that runs a step through Try(). The handler
  // keeps the session alive.
  auto Then(void (Session::*step)(error_code, std::size_t)) {
    return [self = shared_from_this(), step](error_code error, std::size_t n) {
      self->Try([&] { ((*self).*step)(error, n); });
    };
  }

  // Returns the request's method and path, as they appear in the log.
  std::string Shown() const {
    if (!parser_) return "a new connection";
    const auto& message = parser_->get();
    return ToText(message.method_string()) + " " +
           ToText(message.target().substr(0, kMaxShown));
  }

  // Answers with a 500, or closes the connection if an answer has begun.
  void Fail(const std::exception& error) {
    spdlog::error("failed to answer {}: {}", Shown(), error.what());
    if (!parser_ || std::exchange(begun_, true)) return BreakOff();
    response_ = {};
    closing_ = true;
    Try([&] {
      Answer(
          StatusError(500, "InternalError",
                      std::string("Internal error occurred: ") + error.what())
              .ToReply());
    });
  }

  // Reads the next request.
  void Read() {
    response_ = {};
    begun_ = false;
    parser_.emplace();
    parser_->body_limit(kMaxBytes);
    parser_->header_limit(kMaxHeader);
    stream_.expires_after(kReading);
    http::async_read(stream_, buffer_, *parser_, Then(&Session::OnRequest));
  }

  void OnRequest(error_code error, std::size_t /*size*/) {
    if (!error) return Handle();
    if (error != http::error::body_limit) return BreakOff();
    closing_ = true;
    Answer(StatusError(413, "RequestEntityTooLarge",
                       "Request entity too large: limit is " +
                           std::to_string(kMaxBytes))
               .ToReply());
  }

  void Handle() {
    if (!stream_.socket().is_open()) return;  // closed after the read
    auto& message = parser_->get();
    response_.keep_alive(message.keep_alive());
    Request request{.method = ToText(message.method_string())};
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

  // Starts to read, in order to detect a disconnect while the client waits for
  // an answer or for the next part of a stream. Read() gets the bytes that
  // arrive, because they stay in the buffer.
  void AwaitDisconnect() {
    awaiting_disconnect_ = true;
    stream_.socket().async_read_some(buffer_.prepare(kReadAtOnce),
                                     Then(&Session::OnReadAhead));
  }

  void OnReadAhead(error_code error, std::size_t size) {
    buffer_.commit(size);
    if (!std::exchange(awaiting_disconnect_, false)) return;
    if (error) return BreakOff();
    if (buffer_.size() < kMaxHeader) AwaitDisconnect();
  }

  // Cancels the read of AwaitDisconnect() before an answer ends, so that Read()
  // can start. The bytes that have already arrived stay in the buffer.
  void StopAwaitingDisconnect() {
    awaiting_disconnect_ = false;
    error_code ignored;
    stream_.socket().cancel(ignored);
  }

  void Answer(Reply reply) {
    if (reply.delivery == Reply::Delivery::kWithheld) return;
    if (reply.delivery == Reply::Delivery::kDropped) return BreakOff();
    waiting_ = false;
    reply_ = std::move(reply);
    response_.result(static_cast<unsigned>(reply_.status));
    response_.set(http::field::content_type, reply_.content_type);
    response_.set(http::field::cache_control, "no-cache, private");
    for (const auto& [name, value] : reply_.headers) {
      response_.insert(name, value);
    }
    if (closing_) response_.keep_alive(false);
    if (reply_.stream) {
      response_.chunked(true);
    } else {
      StopAwaitingDisconnect();
      response_.content_length(reply_.body.size());
      if (parser_->get().method() == http::verb::head) reply_.body.clear();
    }
    serializer_.emplace(response_);
    begun_ = true;
    reply_.stream ? StartStream() : Write();
  }

  void StartStream() {
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
    http::async_write_header(stream_, *serializer_, Then(&Session::OnStarted));
  }

  void OnStarted(error_code error, std::size_t /*size*/) {
    if (error || !reply_.stream) return BreakOff();
    writing_ = false;
    Write();
  }

  // Sends the part of the answer that is ready. If no part is ready, on_ready
  // schedules another call of Write().
  void Write() {
    auto& part = response_.body();
    part.more = false;
    if (reply_.stream) {
      reply_.body.clear();
      part.more = reply_.stream->Read(reply_.body) && !closing_;
      if (!part.more && reply_.stream->broken_off()) return BreakOff();
    }
    const bool nothing = reply_.body.empty();
    if (nothing && part.more) return;
    if (reply_.stream && !part.more) StopAwaitingDisconnect();
    part.data = nothing ? nullptr : reply_.body.data();
    part.size = reply_.body.size();
    writing_ = true;
    stream_.expires_after(kWriting);
    http::async_write(stream_, *serializer_, Then(&Session::OnWritten));
  }

  void OnWritten(error_code error, std::size_t /*size*/) {
    writing_ = false;
    const bool has_more = error == http::error::need_buffer;
    if (has_more && reply_.stream) return Write();
    if (reply_.on_sent) reply_.on_sent();
    if (error) return BreakOff();
    reply_.stream.reset();
    if (!response_.keep_alive()) return DrainAndClose();
    closing_ ? BreakOff() : Read();
  }

  // Reads and drops what the client still sends, and then closes the
  // connection. The client may still be sending a refused body. It could lose
  // the answer if the connection were closed at once.
  void DrainAndClose() {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(kDraining);
    Drain();
  }

  void Drain() {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(kReadAtOnce),
                            Then(&Session::OnDrained));
  }

  void OnDrained(error_code error, std::size_t /*size*/) {
    if (error) return BreakOff();
    Drain();
  }

  HttpServer& server_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::buffer_body> response_;
  std::optional<http::response_serializer<http::buffer_body>> serializer_;
  Reply reply_;           // its body is the part being sent
  bool waiting_ = false;  // for the handler's answer
  bool awaiting_disconnect_ = false;
  bool begun_ = false;  // part of the answer may have been sent
  bool writing_ = false;
  bool closing_ = false;  // the connection ends after this answer
};

HttpServer::HttpServer(asio::io_context& io, const std::string& address,
                       unsigned short port, Handler handler)
    : acceptor_(io, {asio::ip::make_address(address), port}),
      endpoint_(acceptor_.local_endpoint()),
      retry_(io),
      handler_(std::move(handler)) {
  Accept();
}

HttpServer::~HttpServer() { BreakOff(); }

std::string HttpServer::url() const {
  return "http://" + boost::lexical_cast<std::string>(endpoint_);
}

void HttpServer::Close() {
  away_ = true;  // also refuses a connection that is just being accepted
  error_code ignored;
  acceptor_.close(ignored);
  retry_.cancel();
  for (const auto& session : std::set(sessions_)) session->Close();
}

void HttpServer::GoAway(std::chrono::milliseconds duration) {
  away_ = true;
  error_code ignored;
  acceptor_.close(ignored);
  BreakOff();
  // Bind without listening, so that no other process gets the port meanwhile.
  Bind();
  AcceptAfter(duration);
}

void HttpServer::BreakOff() {
  for (const auto& session : std::set(sessions_)) session->BreakOff();
}

void HttpServer::Bind() {
  error_code error;
  acceptor_.open(endpoint_.protocol(), error);
  // Earlier connections may still occupy the port.
  acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  acceptor_.bind(endpoint_, error);
  if (error) acceptor_.close(error);
}

void HttpServer::Accept() {
  acceptor_.async_accept([this](error_code error, tcp::socket peer) {
    if (error == asio::error::operation_aborted || away_) return;
    // For example, the process is out of file descriptors. Try again later.
    if (error) return AcceptAfter(kAcceptRetry);
    peer.set_option(tcp::no_delay(true), error);
    const auto session = std::make_shared<Session>(*this, std::move(peer));
    sessions_.insert(session);
    Accept();
    session->Start();
  });
}

void HttpServer::AcceptAfter(std::chrono::milliseconds wait) {
  retry_.expires_after(wait);
  retry_.async_wait([this](error_code aborted) {
    if (aborted) return;
    away_ = false;
    // If one of these fails, Accept() fails too, and tries again later.
    if (!acceptor_.is_open()) Bind();
    error_code ignored;
    acceptor_.listen(asio::socket_base::max_listen_connections, ignored);
    Accept();
  });
}

}  // namespace minisched::apiserver
