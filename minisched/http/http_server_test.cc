#include "minisched/http/http_server.h"

#include <optional>
#include <vector>

#include "minisched/http/http_server_testing.h"
#include "minisched/http/server_thread.h"

namespace minisched::http {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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

TEST_F(HttpServerTest, RefusesAForeignHost) {
  for (const char* host : {"evil.example", "evil.example:80", ""}) {
    EXPECT_THAT(Exchange("GET / HTTP/1.1\r\nHost: " + std::string(host) +
                         "\r\nConnection: close\r\n\r\n"),
                StartsWith("HTTP/1.1 403"))
        << host;
  }
}

TEST_F(HttpServerTest, RefusesATooLargeBody) {
  EXPECT_THAT(Exchange("POST / HTTP/1.1\r\nHost: localhost\r\n"
                       "Content-Length: 3145729\r\n\r\n"),
              StartsWith("HTTP/1.1 413"));
}

// A selector in the URL may be that long.
TEST_F(HttpServerTest, AcceptsHeadersUpToOneMebibyte) {
  const std::string path = "/" + std::string(1'000'000, 'x');
  EXPECT_THAT(Exchange("GET " + path +
                       " HTTP/1.1\r\nHost: localhost\r\n"
                       "Connection: close\r\nX: " +
                       std::string(40'000, 'x') + "\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 200 "), EndsWith(path + " ")));
}

TEST_F(HttpServerTest, RefusesTooLargeHeaders) {
  const std::string begin = "GET / HTTP/1.1\r\nHost: localhost\r\nX: ";
  const std::string field(60'000, 'x');
  std::string fields = field;
  for (int i = 0; i < 18; ++i) fields += "\r\nX: " + field;
  for (const std::string& large : {fields, std::string(70'000, 'x')}) {
    EXPECT_THAT(Exchange(begin + large + "\r\n\r\n"),
                AllOf(StartsWith("HTTP/1.1 431 "),
                      HasSubstr("\r\nConnection: close\r\n"),
                      EndsWith("\r\n\r\n431 Request Header Fields Too Large")));
  }
}

TEST_F(HttpServerTest, RefusesMalformedRequests) {
  const std::string post = "POST / HTTP/1.1\r\nHost: localhost\r\n";
  for (const std::string& malformed :
       {std::string("hello\r\n\r\n"), post + "Content-Length: -1\r\n\r\n",
        post + "no colon\r\n\r\n",
        post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    EXPECT_THAT(Exchange(malformed),
                AllOf(StartsWith("HTTP/1.1 400 Bad Request\r\n"),
                      HasSubstr("\r\nConnection: close\r\n"),
                      EndsWith("\r\n\r\n400 Bad Request")))
        << malformed;
  }
  EXPECT_THAT(Exchange("GET /%zz HTTP/1.1\r\nHost: localhost\r\n"
                       "Connection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 400"));
}

TEST_F(HttpServerTest, RefusesARequestWithoutExactlyOneHost) {
  EXPECT_THAT(Exchange("GET / HTTP/1.1\r\nHost: evil.example\r\n"
                       "Host: localhost\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 400 "),
                    EndsWith("400 Bad Request: too many Host headers")));
  EXPECT_THAT(Exchange("GET / HTTP/1.1\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 400 "),
                    EndsWith("400 Bad Request: missing required Host header")));
  EXPECT_THAT(Exchange("GET / HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 403 "));
}

TEST_F(HttpServerTest, AsksForABodyThatTheClientHoldsBack) {
  auto socket = Connect();
  Send(socket,
       "POST /1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
       "Expect: 100-Continue\r\nContent-Length: 4\r\n\r\n");
  std::string begin;
  asio::read_until(socket, asio::dynamic_buffer(begin), "\r\n\r\n");
  EXPECT_EQ(begin, "HTTP/1.1 100 Continue\r\n\r\n");
  Send(socket, "body");
  EXPECT_THAT(ReadAll(socket),
              AllOf(StartsWith("HTTP/1.1 200 "), EndsWith("POST /1 body")));
}

TEST_F(HttpServerTest, AsksForNoBodyThatItDoesNotRead) {
  const std::string end = "Host: localhost\r\nExpect: 100-continue\r\n";
  EXPECT_THAT(Exchange("POST /1 HTTP/1.1\r\n" + end +
                       "Content-Length: 3145729\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(
      Exchange("GET /1 HTTP/1.1\r\nConnection: close\r\n" + end + "\r\n"),
      StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(
      Exchange("POST /1 HTTP/1.0\r\n" + end + "Content-Length: 1\r\n\r\nx"),
      StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, RefusesOtherExpectations) {
  EXPECT_THAT(
      Exchange("GET / HTTP/1.1\r\nHost: localhost\r\nExpect: rain\r\n\r\n"),
      AllOf(StartsWith("HTTP/1.1 417 "),
            HasSubstr("\r\nConnection: close\r\n")));
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

// GoAway() and Close() end the wait of an earlier GoAway(), which must not open
// the server then.
TEST(HttpServerAwayTest, StaysAwayWhenTheWaitIsReplacedOrCancelled) {
  asio::io_context io;
  asio::io_context client;
  HttpServer server(io, {}, [](const Request&, const HttpServer::Respond&) {});
  const std::string url = server.url();
  server.GoAway(std::chrono::hours(1));
  server.GoAway(std::chrono::hours(1));
  io.poll();
  EXPECT_THROW(Connect(client, url), boost::system::system_error);
  server.Close();
  // The loop ends at once, because the server waits for nothing more.
  io.run_for(std::chrono::seconds(20));
  EXPECT_TRUE(io.stopped());
  EXPECT_THROW(Connect(client, url), boost::system::system_error);
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

TEST_F(HttpServerTest, SendsNoLengthWithoutABody) {
  for (const std::string status : {"204", "304"}) {
    const std::string answers = Exchange(
        "GET /status?" + status +
        "= HTTP/1.1\r\nHost: localhost\r\n\r\n"
        "GET /2 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    EXPECT_THAT(answers, StartsWith("HTTP/1.1 " + status + " "));
    const std::string first = answers.substr(0, answers.find("\r\n\r\n"));
    EXPECT_EQ(first.find("Content-Length"), first.npos);
    EXPECT_THAT(answers, EndsWith("GET /2 "));
  }
}

TEST(HttpServerOptionsTest, EachResponseHasTheHeadersOfTheOptions) {
  const ServerThread server({.headers = {{"X-A", "b"}}},
                            [](const Request& request) -> Reply {
                              if (request.path == "/throw")
                                throw std::runtime_error("no");
                              return {.headers = {{"X-C", "d"}}};
                            });
  EXPECT_THAT(Ask(server.url(), "GET", "/"),
              AllOf(HasSubstr("\r\nX-A: b\r\n"), HasSubstr("\r\nX-C: d\r\n")));
  const std::string rest = " HTTP/1.1\r\nConnection: close\r\nHost: ";
  for (const std::string& request :
       {std::string("nonsense"), "GET /%zz" + rest + "localhost",
        "GET /" + rest + "evil", "GET /throw" + rest + "localhost"}) {
    EXPECT_THAT(http::Exchange(server.url(), request + "\r\n\r\n"),
                HasSubstr("\r\nX-A: b\r\n"))
        << request;
  }
}

TEST(HttpServerOptionsTest, ClosesConnectionsOverTheLimit) {
  const ServerThread server({.max_connections = 2},
                            [](const Request&) { return TextReply("ok"); });
  asio::io_context io;
  const auto responds = [&](asio::ip::tcp::socket& socket) {
    Send(socket, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    std::string start(12, ' ');
    boost::system::error_code error;
    asio::read(socket, asio::buffer(start), error);
    return !error;
  };
  std::optional<asio::ip::tcp::socket> first = Connect(io, server.url());
  auto second = Connect(io, server.url());
  EXPECT_TRUE(responds(*first));
  EXPECT_TRUE(responds(second));
  auto third = Connect(io, server.url());
  EXPECT_FALSE(responds(third));
  first.reset();
  bool accepted = false;
  while (!accepted) {
    auto socket = Connect(io, server.url());
    accepted = responds(socket);
  }
}

}  // namespace
}  // namespace minisched::http
