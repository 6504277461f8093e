#include "minisched/client/transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "minisched/client/client_testing.h"
#include "minisched/client/errors.h"
#include "testing/http_server.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const HttpRequest kPost{.method = "POST", .path = "/pods", .body = "{}"};

Outcome Send(Transport& transport, const HttpRequest& request) {
  return OutcomeOf([&] { transport.Send(request, {}); });
}

TEST(TransportTest, SendsARequestAndReadsTheAnswer) {
  HttpServer server([](const ServerRequest&, ServerReply reply) {
    reply.Send(201, "created\n", {{"X-Answer", "yes"}});
  });
  Transport transport(ConfigFor(server.url()));
  const HttpResponse response =
      transport.Send({.method = "PATCH",
                      .path = "/a/b",
                      .query = {{"x", "1"}},
                      .headers = {{"User-Agent", "test"},
                                  {"Content-Type", "application/x-test"}},
                      .body = "text"},
                     {});
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(response.body, "created\n");
  EXPECT_EQ(response.headers.at("x-answer"), "yes");

  const ServerRequest request = server.requests().at(0);
  EXPECT_EQ(request.method, "PATCH");
  EXPECT_EQ(request.target, "/a/b?x=1");
  EXPECT_EQ(request.body, "text");
  EXPECT_EQ(request.headers.at("user-agent"), "test");
  EXPECT_EQ(request.headers.at("content-type"), "application/x-test");
}

TEST(TransportTest, EncodesPathAndQuery) {
  HttpServer server(
      [](const ServerRequest&, ServerReply reply) { reply.Send(200, ""); });
  Transport transport(ConfigFor(server.url()));
  transport.Send({.method = "GET",
                  .path = "/a b/\u00e4?x=1#y",
                  .query = {{"labelSelector", "app in (a, b),c!=d"},
                            {"q", "1&2=3+4%/?#\u00e4"}}},
                 {});
  EXPECT_EQ(server.requests().at(0).target,
            "/a%20b/%C3%A4%3Fx=1%23y"
            "?labelSelector=app%20in%20%28a%2C%20b%29%2Cc%21%3Dd"
            "&q=1%262%3D3%2B4%25%2F%3F%23%C3%A4");
}

TEST(TransportTest, KeepsThePathOfTheServersUrl) {
  HttpServer server(
      [](const ServerRequest&, ServerReply reply) { reply.Send(200, ""); });
  for (const std::string path : {"/clusters/a", "/a%20b/~c"}) {
    Transport transport(ConfigFor(server.url() + path + "/"));
    transport.Send({.method = "GET", .path = "/api", .query = {{"x", "1"}}},
                   {});
    EXPECT_EQ(server.requests().back().target, path + "/api?x=1");
  }
}

TEST(TransportTest, ConnectsToAnIpv6Address) {
  HttpServer server(
      [](const ServerRequest&, ServerReply reply) { reply.Send(200, "six"); },
      {.address = "::1"});
  Transport transport(ConfigFor(server.url()));
  EXPECT_EQ(transport.Send(kGetPods, {}).body, "six");
  EXPECT_EQ(server.requests().at(0).headers.at("host"),
            "[::1]:" + std::to_string(server.port()));
}

TEST(TransportTest, ReadsAChunkedBodyOfAnySize) {
  const std::string large(3'000'000, 'x');
  HttpServer server([&](const ServerRequest&, ServerReply reply) {
    reply.Start();
    reply.Chunk("a");
    reply.Chunk(large);
    reply.End();
  });
  Transport transport(ConfigFor(server.url()));
  EXPECT_EQ(transport.Send(kGetPods, {}).body, "a" + large);
}

TEST(TransportTest, AcceptsABodyInAnyCharset) {
  HttpServer server([](const ServerRequest&, ServerReply reply) {
    reply.Send(502, "<html>Bad Gateway</html>",
               {{"Content-Type", "text/html; charset=koi8-r"}});
  });
  Transport transport(ConfigFor(server.url()));
  const HttpResponse response = transport.Send(kGetPods, {});
  EXPECT_EQ(response.status, 502);
  EXPECT_EQ(response.body, "<html>Bad Gateway</html>");
}

// A token for one server must not be sent to another.
TEST(TransportTest, DoesNotFollowRedirects) {
  HttpServer other(
      [](const ServerRequest&, ServerReply reply) { reply.Send(200, ""); });
  HttpServer server([&](const ServerRequest&, ServerReply reply) {
    reply.Send(307, "", {{"Location", other.url() + "/elsewhere"}});
  });
  Transport transport(ConfigFor(server.url()));
  EXPECT_EQ(transport.Send(kGetPods, {}).status, 307);
  EXPECT_EQ(other.requests().size(), 0);
}

// cpprestsdk would take the next response for that to the next request.
TEST(TransportTest, RefusesAResponseThatAnnouncesAnother) {
  HttpServer server([](const ServerRequest&, ServerReply reply) {
    reply.Raw("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n");
    reply.Send(200, "x");
  });
  Transport transport(ConfigFor(server.url()));
  for (int i = 0; i < 2; ++i) {
    const Outcome outcome = Send(transport, kGetPods);
    EXPECT_EQ(outcome.kind, "kProtocol");
    EXPECT_EQ(outcome.message, server.url() +
                                   ": interim responses are not "
                                   "supported: status 103");
  }
  EXPECT_TRUE(server.AwaitOpenConnections(0));
}

TEST(TransportTest, JoinsTheValuesOfAHeader) {
  HttpServer server([](const ServerRequest&, ServerReply reply) {
    reply.Send(200, "", {{"Warning", "299 - a"}, {"WARNING", "299 - b"}});
  });
  Transport transport(ConfigFor(server.url()));
  EXPECT_EQ(transport.Send(kGetPods, {}).headers.at("warning"),
            "299 - a, 299 - b");
}

TEST(TransportTest, ReadsNoBodyIfThereIsNone) {
  HttpServer server([](const ServerRequest& request, ServerReply reply) {
    reply.Raw(request.method == "HEAD"
                  ? "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
                  : "HTTP/1.1 204 No Content\r\n\r\n");
  });
  Transport transport(ConfigFor(server.url()));
  for (const std::string method : {"HEAD", "DELETE", "HEAD"}) {
    EXPECT_EQ(transport.Send({.method = method, .path = "/"}, {}).body, "");
  }
  EXPECT_EQ(server.accepted_connections(), 1);
}

// A line break would add a header, or a request.
TEST(TransportTest, RefusesAHeaderWithALineBreak) {
  HttpServer server(
      [](const ServerRequest&, ServerReply reply) { reply.Send(200, ""); });
  Transport transport(ConfigFor(server.url()));
  for (const std::string token : {"a\r\nX: y", "a\n"}) {
    const Outcome outcome =
        Send(transport,
             {.method = "GET", .path = "/", .headers = {{"Token", token}}});
    EXPECT_EQ(outcome.kind, "kProtocol");
    EXPECT_EQ(outcome.message,
              server.url() + ": the header Token has a line break");
  }
  EXPECT_EQ(server.accepted_connections(), 0);
}

TEST(TransportTest, RefusesAnInvalidUrl) {
  for (const std::string url :
       {"", "127.0.0.1:6443", "ftp://127.0.0.1", "https://", "http://a b/"}) {
    const Outcome outcome = OutcomeOf([&] { Transport{ConfigFor(url)}; });
    EXPECT_EQ(outcome.kind, "ConfigError") << url << ": " << outcome;
    EXPECT_THAT(outcome.message, HasSubstr("test: ")) << url;
  }
}

// Errors.

TEST(TransportTest, ExplainsARefusedConnection) {
  const std::string url = "http://127.0.0.1:1";  // nothing listens there
  Transport transport(ConfigFor(url));
  const Outcome outcome = Send(transport, kGetPods);
  EXPECT_EQ(outcome.kind, "kConnect");
  EXPECT_EQ(outcome.message,
            url + ": connection refused, or no route to the server");
}

TEST(TransportTest, ExplainsAnUnknownHost) {
  Transport transport(ConfigFor("http://no-such-host.invalid"));
  const Outcome outcome = Send(transport, kGetPods);
  EXPECT_EQ(outcome.kind, "kConnect");
  EXPECT_EQ(outcome.message, "http://no-such-host.invalid: no such host");
}

TEST(TransportTest, ExplainsAServerThatIsNotHttp) {
  HttpServer server([](const ServerRequest&, ServerReply reply) {
    reply.Raw("SSH-2.0-OpenSSH_9.2\r\n\r\n");
  });
  Transport transport(ConfigFor(server.url()));
  const Outcome outcome = Send(transport, kGetPods);
  EXPECT_EQ(outcome.kind, "kProtocol");
  EXPECT_EQ(outcome.message, server.url() + ": does not speak HTTP");
}

TEST(TransportTest, RefusesMalformedAnswers) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const std::vector<std::pair<std::string, std::string>> answers = {
      {"HTTP/1.1 abc\r\n\r\n", "kProtocol"},
      {"HTTP/1.1\r\n\r\n", "kProtocol"},
      {"\r\n\r\n", "kProtocol"},
      {ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n", "kProtocol"},
      {ok + "Content-Length: 99999999\r\n\r\n{}", "kLost"},
      {ok + "Content-Length: abc\r\n\r\n{}", "kProtocol"},
      {ok + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ", "kProtocol"},
      {ok + "Content-Length: -1\r\n\r\n{}", "kProtocol"},
      // cpprestsdk ignores the line.
      {ok + "no colon\r\nContent-Length: 2\r\n\r\n{}", "ok"},
      // Ends with the connection.
      {ok + "\r\n{}", "ok"},
      // An odd number of bytes can't be in this charset.
      {ok + "Content-Type: text/html; charset=utf-16\r\n"
            "Content-Length: 3\r\n\r\nabc",
       "ok"}};
  for (const auto& [answer, kind] : answers) {
    HttpServer server(
        [&answer = answer](const ServerRequest&, ServerReply reply) {
          reply.Raw(answer);
          reply.Close();
        });
    Transport transport(ConfigFor(server.url()));
    const Outcome outcome = Send(transport, kGetPods);
    EXPECT_EQ(outcome.kind, kind) << answer << ": " << outcome;
  }
}

struct Cut {
  const char* name;
  void (*reply)(ServerReply);
};

class TransportCutTest : public testing::TestWithParam<Cut> {};

TEST_P(TransportCutTest, IsLost) {
  HttpServer server([](const ServerRequest&, ServerReply reply) {
    GetParam().reply(std::move(reply));
  });
  Transport transport(ConfigFor(server.url()));
  for (const HttpRequest& request : {kGetPods, kPost}) {
    const Outcome outcome = Send(transport, request);
    EXPECT_EQ(outcome.kind, "kLost") << outcome;
    EXPECT_THAT(outcome.message, HasSubstr(": connection lost: "));
  }
  // A broken connection is not kept, and nothing is sent twice.
  EXPECT_TRUE(server.AwaitOpenConnections(0));
  EXPECT_EQ(server.requests().size(), 2);
}

INSTANTIATE_TEST_SUITE_P(
    , TransportCutTest,
    testing::Values(Cut{"Close", [](ServerReply reply) { reply.Close(); }},
                    Cut{"Reset", [](ServerReply reply) { reply.Reset(); }},
                    Cut{"WithinTheStatusLine",
                        [](ServerReply reply) {
                          reply.Raw("HTTP/1.1 20");
                          reply.Close();
                        }},
                    Cut{"WithinTheHeaders",
                        [](ServerReply reply) {
                          reply.Raw("HTTP/1.1 200 OK\r\nContent-Le");
                          reply.Close();
                        }},
                    Cut{"AfterTheHeaders",
                        [](ServerReply reply) {
                          reply.Raw(
                              "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n");
                          reply.Close();
                        }},
                    Cut{"WithinTheBody",
                        [](ServerReply reply) {
                          reply.Raw(
                              "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab");
                          reply.Reset();
                        }},
                    Cut{"BetweenChunks",
                        [](ServerReply reply) {
                          reply.Start();
                          reply.Chunk("{}");
                          reply.Close();
                        }},
                    Cut{"WithinAChunk",
                        [](ServerReply reply) {
                          reply.Start();
                          reply.Raw("ff\r\nabc");
                          reply.Close();
                        }}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace minisched
