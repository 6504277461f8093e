#include "lab/apiserver/http/http_server.h"

#include <gmock/gmock.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <future>
#include <thread>

namespace minisched::apiserver {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

namespace asio = boost::asio;

// A stream whose text and end the test sets.
class TestStream : public Stream {
 public:
  bool Read(std::string& out) override {
    if (failing) throw std::runtime_error("no more");
    out += text;
    text.clear();
    return !ended;
  }
  bool broken_off() const override { return broken; }
  std::string text;
  bool ended = false;
  bool broken = false;
  bool failing = false;
};

class HttpServerTest : public ::testing::Test {
 protected:
  HttpServerTest()
      : server_(
            io_, "127.0.0.1", 0,
            [this](const Request& request, const HttpServer::Respond& respond) {
              if (request.path == "/later") {
                respond_ = respond;
              } else {
                respond(Answer(request));
              }
            }),
        thread_([this] { io_.run(); }) {}
  ~HttpServerTest() override {
    asio::post(io_, [this] {
      server_.Close();
      io_.stop();
    });
    thread_.join();
  }

  // Called on the loop's thread.
  Reply Answer(const Request& request) {
    Reply reply;
    if (request.path == "/stream") {
      auto stream = std::make_unique<TestStream>();
      stream_ = stream.get();
      if (!request.query.contains("empty")) stream->text = "first\n";
      stream->broken = request.Query("broken") == "true";
      reply.stream = std::move(stream);
      return reply;
    }
    if (request.path == "/throw") throw std::runtime_error("out of order");
    if (request.path == "/header") {
      reply.headers.emplace_back("Warning", std::string(1 << 16, 'x'));
    }
    if (request.path == "/sent") {
      reply.on_sent = [] { throw std::runtime_error("sent"); };
    }
    if (request.path == "/drop") reply.delivery = Reply::Delivery::kDropped;
    if (request.path == "/hang") reply.delivery = Reply::Delivery::kWithheld;
    reply.body = request.method + " " + request.path + " " + request.body;
    return reply;
  }

  asio::ip::tcp::socket Connect() {
    asio::ip::tcp::socket socket(client_);
    const std::string url = server_.url();
    const auto port =
        static_cast<unsigned short>(std::stoi(url.substr(url.rfind(':') + 1)));
    socket.connect({asio::ip::make_address("127.0.0.1"), port});
    return socket;
  }

  static void Send(asio::ip::tcp::socket& socket, const std::string& text) {
    boost::system::error_code ignored;
    asio::write(socket, asio::buffer(text), ignored);
  }

  // Returns everything the server sends until it closes the connection.
  static std::string ReadAll(asio::ip::tcp::socket& socket) {
    std::string text;
    boost::system::error_code end;
    asio::read(socket, asio::dynamic_buffer(text), end);
    return text;
  }

  std::string Exchange(const std::string& request) {
    auto socket = Connect();
    Send(socket, request);
    return ReadAll(socket);
  }

  // Requests `path`, sends `more` before there is an answer, disconnects, and
  // waits until the server has closed the connection.
  void RequestAndDisconnect(const std::string& path,
                            const std::string& more = "") {
    {
      auto socket = Connect();
      Send(socket, "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
      Until([this] { return !server_.idle(); });
      Send(socket, more);
    }
    Until([this] { return server_.idle(); });
  }

  // Waits until the condition is true. Evaluates it on the loop's thread.
  void Until(const std::function<bool()>& condition) {
    for (bool met = false; !met; std::this_thread::yield()) {
      std::promise<bool> answer;
      asio::post(io_, [&] { answer.set_value(condition()); });
      met = answer.get_future().get();
    }
  }

  asio::io_context io_;
  asio::io_context client_;
  TestStream* stream_ = nullptr;
  HttpServer::Respond respond_;
  HttpServer server_;
  std::jthread thread_;
};

TEST_F(HttpServerTest, AnswersARequest) {
  const std::string answer = Exchange(
      "POST /a%20b?c HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
      "Content-Length: 4\r\n\r\nbody");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\nPOST /a b body"));
}

TEST_F(HttpServerTest, KeepsTheConnectionForTheNextRequest) {
  const std::string answers = Exchange(
      "GET /1 HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n"
      "GET /2 HTTP/1.1\r\nHost: [::1]\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answers, HasSubstr("GET /1"));
  EXPECT_THAT(answers, EndsWith("GET /2 "));
}

TEST_F(HttpServerTest, AnswersHeadWithoutABody) {
  const std::string answers = Exchange(
      "HEAD /1 HTTP/1.1\r\nHost: localhost\r\n\r\n"
      "GET /2 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answers, HasSubstr("Content-Length: 8\r\n\r\nHTTP/1.1 200"));
  EXPECT_THAT(answers, EndsWith("GET /2 "));
}

// The header value of /header is longer than Beast allows.
TEST_F(HttpServerTest, AnswersWith500WhenAnsweringFails) {
  for (const std::string path : {"/throw", "/header"}) {
    const std::string answer =
        Exchange("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 500 ")) << path;
    EXPECT_THAT(answer, HasSubstr("Internal error occurred: ")) << path;
    EXPECT_THAT(answer, HasSubstr("Connection: close\r\n")) << path;
    Until([this] { return server_.idle(); });
  }
}

TEST_F(HttpServerTest, ClosesTheConnectionWhenOnSentThrows) {
  EXPECT_THAT(Exchange("GET /sent HTTP/1.1\r\nHost: localhost\r\n\r\n"),
              EndsWith("GET /sent "));
  Until([this] { return server_.idle(); });
}

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

TEST_F(HttpServerTest, RefusesAForeignHost) {
  for (const char* host : {"evil.example", "evil.example:80", ""}) {
    EXPECT_THAT(Exchange("GET / HTTP/1.1\r\nHost: " + std::string(host) +
                         "\r\nConnection: close\r\n\r\n"),
                StartsWith("HTTP/1.1 403"))
        << host;
  }
}

TEST_F(HttpServerTest, RefusesTooLargeBodiesAndHeaders) {
  EXPECT_THAT(Exchange("POST / HTTP/1.1\r\nHost: localhost\r\n"
                       "Content-Length: 3145729\r\n\r\n"),
              StartsWith("HTTP/1.1 413"));
  EXPECT_EQ(Exchange("GET / HTTP/1.1\r\nHost: localhost\r\nX: " +
                     std::string(20'000, 'x') + "\r\n\r\n"),
            "");
}

TEST_F(HttpServerTest, RefusesMalformedRequests) {
  EXPECT_EQ(Exchange("hello\r\n\r\n"), "");
  EXPECT_THAT(Exchange("GET /%zz HTTP/1.1\r\nHost: localhost\r\n"
                       "Connection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 400"));
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

// Closes the server with two connections in the backlog. The number of turns of
// the loop before Close() determines how many of the connections the server has
// accepted.
class HttpServerBacklogTest : public HttpServerTest,
                              public ::testing::WithParamInterface<int> {
 protected:
  void CloseAfter(int turns) {
    if (turns == 0) return server_.Close();
    asio::post(io_, [this, turns] { CloseAfter(turns - 1); });
  }
};

INSTANTIATE_TEST_SUITE_P(Turns, HttpServerBacklogTest, ::testing::Range(0, 5));

TEST_P(HttpServerBacklogTest, AClosedServerAnswersNoRequest) {
  std::vector<asio::ip::tcp::socket> sockets;
  std::promise<void> connected;
  asio::post(io_, [&] {
    for (int i = 0; i < 2; ++i) sockets.push_back(Connect());
    CloseAfter(GetParam());
    connected.set_value();
  });
  connected.get_future().wait();
  EXPECT_THROW(for (;;) Connect(), boost::system::system_error);
  for (auto& socket : sockets) {
    Send(socket,
         "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(ReadAll(socket), "");
  }
}

TEST_F(HttpServerTest, RefusesConnectionsWhileAway) {
  auto socket = Connect();
  Send(socket, "GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  std::string text;
  asio::read_until(socket, asio::dynamic_buffer(text), "first\n");
  asio::post(io_, [this] { server_.GoAway(std::chrono::hours(1)); });
  EXPECT_EQ(ReadAll(socket), "");
  EXPECT_THROW(Connect(), boost::system::system_error);

  asio::post(io_, [this] { server_.GoAway(std::chrono::milliseconds(1)); });
  for (std::string answer; answer.empty(); std::this_thread::yield()) {
    try {
      answer = Exchange(
          "GET /1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
      EXPECT_THAT(answer, EndsWith("GET /1 "));
    } catch (const boost::system::system_error&) {
    }
  }
}

}  // namespace
}  // namespace minisched::apiserver
