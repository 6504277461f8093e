#include "minisched/http/session.h"

#include <boost/asio/streambuf.hpp>
#include <memory>
#include <optional>

#include "minisched/http/http_server_testing.h"

namespace minisched::http {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(HttpServerTest, ClosesTheConnectionWhenAStreamThrows) {
  auto socket = Connect();
  Send(socket, "GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  asio::streambuf begin;
  asio::read_until(socket, begin, "first\n");
  asio::post(io_, [this] {
    stream_->failing = true;
    stream_->on_ready();
  });
  // There is no last chunk.
  EXPECT_THAT(ReadAll(socket), Not(EndsWith("0\r\n\r\n")));
  Until([this] { return server_.idle(); });
}

TEST_F(HttpServerTest, ClosesTheConnectionWhenTheHandlerDropsRespond) {
  auto socket = Connect();
  Send(socket, "GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n");
  Until([this] { return respond_ != nullptr; });
  asio::post(io_, [this] { respond_ = nullptr; });
  EXPECT_EQ(ReadAll(socket), "");
  Until([this] { return server_.idle(); });
}

TEST_F(HttpServerTest, EndsStreamsProperlyWhenTheServerCloses) {
  auto socket = Connect();
  Send(socket, "GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  std::string text;
  asio::read_until(socket, asio::dynamic_buffer(text), "first\n");
  asio::post(io_, [this] {
    stream_->text = "second\n";
    stream_->on_ready();
  });
  asio::read_until(socket, asio::dynamic_buffer(text), "second\n");
  asio::post(io_, [this] { server_.Close(); });
  text += ReadAll(socket);
  EXPECT_THAT(text, HasSubstr("Transfer-Encoding: chunked"));
  EXPECT_THAT(text, EndsWith("\r\n0\r\n\r\n"));
}

TEST_F(HttpServerTest, ReadsAStreamWithAPeriodAgain) {
  auto socket = Connect();
  Send(socket, "GET /stream?polled HTTP/1.1\r\nHost: localhost\r\n\r\n");
  std::string text;
  asio::read_until(socket, asio::dynamic_buffer(text), "first\n");
  // Without a call of on_ready.
  asio::post(io_, [this] { stream_->text = "second\n"; });
  asio::read_until(socket, asio::dynamic_buffer(text), "second\n");
  asio::post(io_, [this] { stream_->ended = true; });
  asio::read_until(socket, asio::dynamic_buffer(text), "\r\n0\r\n\r\n");
}

TEST_F(HttpServerTest, KeepsTheConnectionAfterAStream) {
  auto socket = Connect();
  Send(socket, "GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  std::string text;
  asio::read_until(socket, asio::dynamic_buffer(text), "first\n");
  EXPECT_THAT(text, Not(HasSubstr("Connection: close")));
  asio::post(io_, [this] {
    stream_->ended = true;
    stream_->on_ready();
  });
  Send(socket,
       "GET /next HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  text += ReadAll(socket);
  EXPECT_THAT(text, HasSubstr("\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(text, EndsWith("GET /next "));
}

TEST_F(HttpServerTest, ClosesTheConnectionAfterAStreamIfTheClientAsks) {
  auto socket = Connect();
  Send(socket,
       "GET /stream HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  std::string text;
  asio::read_until(socket, asio::dynamic_buffer(text), "first\n");
  asio::post(io_, [this] {
    stream_->ended = true;
    stream_->on_ready();
  });
  EXPECT_THAT(text + ReadAll(socket), EndsWith("\r\n0\r\n\r\n"));
}

TEST_F(HttpServerTest, SendsTheHeaderOfAnEmptyStream) {
  auto socket = Connect();
  Send(socket, "GET /stream?empty HTTP/1.1\r\nHost: localhost\r\n\r\n");
  std::string text;
  asio::read_until(socket, asio::dynamic_buffer(text), "\r\n\r\n");
  asio::post(io_, [this] { server_.Close(); });
  EXPECT_EQ(ReadAll(socket), "0\r\n\r\n");
}

TEST_F(HttpServerTest, ClosesABrokenStreamWithoutAProperEnd) {
  auto socket = Connect();
  Send(socket, "GET /stream?broken=true HTTP/1.1\r\nHost: localhost\r\n\r\n");
  std::string text;
  asio::read_until(socket, asio::dynamic_buffer(text), "first\n");
  asio::post(io_, [this] {
    stream_->ended = true;
    stream_->on_ready();
  });
  text += ReadAll(socket);
  EXPECT_THAT(text, EndsWith("first\n\r\n"));
}

TEST_F(HttpServerTest, ClosesTheConnectionWhenTheReaderOfAStreamDisconnects) {
  {
    auto socket = Connect();
    Send(socket, "GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
    std::string text;
    asio::read_until(socket, asio::dynamic_buffer(text), "first\n");
  }
  Until([this] { return server_.idle(); });
}

TEST_F(HttpServerTest, TheHandlerMayAnswerLater) {
  auto socket = Connect();
  Send(socket,
       "GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n"
       "GET /next HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  Until([this] { return respond_ != nullptr; });
  asio::post(io_, [this] {
    Reply reply;
    reply.body = "at last";
    respond_(std::move(reply));
  });
  const std::string answers = ReadAll(socket);
  EXPECT_THAT(answers, HasSubstr("at lastHTTP/1.1 200"));
  EXPECT_THAT(answers, EndsWith("GET /next "));
}

TEST_F(HttpServerTest, IgnoresAnAnswerAfterTheClientDisconnected) {
  RequestAndDisconnect("/later");
  RequestAndDisconnect("/hang");
  asio::post(io_, [this] { respond_({}); });
  EXPECT_THAT(Exchange("GET /1 HTTP/1.1\r\nHost: localhost\r\n"
                       "Connection: close\r\n\r\n"),
              EndsWith("GET /1 "));
}

TEST_F(HttpServerTest, CallsOnSentWhenSendingFails) {
  auto socket = std::make_optional(Connect());
  Send(*socket, "GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n");
  Until([this] { return respond_ != nullptr; });
  bool sent = false;
  asio::post(io_, [&] {
    // More than the buffers of a connection hold.
    Reply reply = TextReply(std::string(64 << 20, 'x'));
    reply.on_sent = [&] { sent = true; };
    respond_(std::move(reply));
  });
  std::string begin(100, ' ');
  asio::read(*socket, asio::buffer(begin));
  Until([&] {
    EXPECT_FALSE(sent);
    return true;
  });
  socket.reset();
  Until([this] { return server_.idle(); });
  Until([&] { return sent; });
}

// The connection still exists in the turn of the loop that breaks it off.
TEST_F(HttpServerTest, IgnoresAnAnswerToAConnectionThatWasJustBrokenOff) {
  auto socket = Connect();
  Send(socket, "GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n");
  Until([this] { return respond_ != nullptr; });
  bool sent = false;
  std::weak_ptr<int> answer;
  std::promise<void> responded;
  asio::post(io_, [&] {
    const auto token = std::make_shared<int>();
    answer = token;
    Reply reply;
    reply.on_sent = [&sent, token] { sent = true; };
    server_.GoAway(std::chrono::hours(1));
    respond_(std::move(reply));
    responded.set_value();
  });
  responded.get_future().wait();
  Until([&] { return answer.expired(); });
  EXPECT_FALSE(sent);
  EXPECT_EQ(ReadAll(socket), "");
}

TEST_F(HttpServerTest, DetectsTheDisconnectOfAClientThatSendsMore) {
  RequestAndDisconnect("/hang", "more");
  RequestAndDisconnect("/stream", "more");
}

TEST_F(HttpServerTest, AnswersARequestThatArrivesDuringAnAnswer) {
  auto socket = Connect();
  Send(socket, "GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n");
  Until([this] { return respond_ != nullptr; });
  Send(socket, "GET /next HTTP/1.1\r\nHost: local");
  asio::post(io_, [this] { respond_({}); });
  Send(socket, "host\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(ReadAll(socket), EndsWith("GET /next "));
}

TEST_F(HttpServerTest, ADroppedReplyClosesTheConnection) {
  EXPECT_EQ(Exchange("GET /drop HTTP/1.1\r\nHost: localhost\r\n\r\n"), "");
}

TEST_F(HttpServerTest, AWithheldReplyHangsUntilTheServerCloses) {
  auto socket = Connect();
  Send(socket, "GET /hang HTTP/1.1\r\nHost: localhost\r\n\r\n");
  Until([this] { return !server_.idle(); });
  asio::post(io_, [this] { server_.Close(); });
  EXPECT_EQ(ReadAll(socket), "");
}

}  // namespace
}  // namespace minisched::http
