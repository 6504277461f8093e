// How a Transport keeps its connections. The server may end a kept connection
// at any time.

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "minisched/client/client_testing.h"
#include "minisched/client/transport.h"
#include "testing/http_server.h"

namespace minisched {
namespace {

const HttpRequest kWrite{.method = "POST", .path = "/pods", .body = "{}"};

Outcome OutcomeOfSend(Transport& transport, const HttpRequest& request) {
  return OutcomeOf([&] { transport.Send(request, {}); });
}

TEST(TransportReuseTest, ReusesItsConnection) {
  HttpServer server(
      [](const ServerRequest&, ServerReply reply) { reply.Send(200, "x"); });
  Transport transport(ConfigFor(server.url()));
  for (int i = 0; i < 10; ++i) transport.Send(kGetPods, {});
  EXPECT_EQ(server.accepted_connections(), 1);
}

// The server will close it last.
TEST(TransportReuseTest, ReusesTheConnectionThatWasUsedLast) {
  std::vector<ServerReply> held;
  HttpServer server([&](const ServerRequest& request, ServerReply reply) {
    if (request.target != "/held") return reply.Send(200, "");
    held.push_back(std::move(reply));
    if (held.size() < 2) return;
    for (ServerReply& first : held) first.Send(200, "");
  });
  Transport transport(ConfigFor(server.url()));
  const auto hold = [&] {
    transport.Send({.method = "GET", .path = "/held"}, {});
  };
  std::thread other(hold);
  hold();
  other.join();
  for (int i = 0; i < 4; ++i) transport.Send(kGetPods, {});
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 6);
  for (std::size_t i = 3; i < requests.size(); ++i) {
    EXPECT_EQ(requests[i].connection, requests[2].connection);
  }
}

TEST(TransportReuseTest, ClosesAConnectionAsTheServerAsks) {
  HttpServer server([](const ServerRequest&, ServerReply reply) {
    reply.Send(200, "x", {{"Connection", "close"}});
  });
  Transport transport(ConfigFor(server.url()));
  transport.Send(kGetPods, {});
  EXPECT_TRUE(server.AwaitOpenConnections(0));
}

// What the server sends without a request is no response to the next one.
TEST(TransportReuseTest, DoesNotReuseAConnectionWithMoreThanAResponse) {
  HttpServer server([](const ServerRequest& request, ServerReply reply) {
    reply.Raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + request.target +
              "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfalse");
  });
  Transport transport(ConfigFor(server.url()));
  for (const std::string path : {"/a", "/b", "/c"}) {
    EXPECT_EQ(transport.Send({.method = "GET", .path = path}, {}).body, path);
  }
}

TEST(TransportReuseTest, ARequestSurvivesAKeptConnectionThatWasClosed) {
  HttpServer server([](const ServerRequest&, ServerReply reply) {
    reply.Send(200, "x");
    reply.Close();
  });
  Transport transport(ConfigFor(server.url()));
  transport.Send(kGetPods, {});
  for (const HttpRequest& request : {kGetPods, kWrite}) {
    ASSERT_TRUE(server.AwaitOpenConnections(0));
    EXPECT_EQ(transport.Send(request, {}).body, "x");
  }
}

// The server closes the connection when the request is already on its way.
TEST(TransportReuseTest, SendsAGetAgainOnceIfAKeptConnectionEnds) {
  for (const bool recovers : {true, false}) {
    HttpServer server([=](const ServerRequest& request, ServerReply reply) {
      if (request.target == "/first" || (request.connection > 0 && recovers)) {
        return reply.Send(200, "x");
      }
      reply.Close();
    });
    Transport transport(ConfigFor(server.url()));
    transport.Send({.method = "GET", .path = "/first"}, {});
    EXPECT_EQ(OutcomeOfSend(transport, kGetPods).kind,
              recovers ? "ok" : "kLost");
    EXPECT_EQ(server.requests().size(), 3);
    EXPECT_EQ(server.accepted_connections(), 2);
  }
}

// The server may have executed the request before it broke the connection.
TEST(TransportReuseTest, NeverSendsAWriteTwice) {
  for (const std::string method : {"POST", "PATCH", "DELETE"}) {
    HttpServer server([](const ServerRequest& request, ServerReply reply) {
      if (request.method == "GET") return reply.Send(200, "");
      reply.Close();
    });
    Transport transport(ConfigFor(server.url()));
    transport.Send(kGetPods, {});
    const Outcome outcome = OutcomeOfSend(
        transport, {.method = method, .path = "/pods/a", .body = "{}"});
    EXPECT_EQ(outcome.kind, "kLost") << method << ": " << outcome;
    EXPECT_EQ(server.requests().size(), 2) << method;
    EXPECT_EQ(server.requests().at(1).connection, 0) << method;
  }
}

}  // namespace
}  // namespace minisched
