// The sizes of responses that a Transport accepts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "minisched/client/client_testing.h"
#include "minisched/client/endless_server_testing.h"
#include "minisched/client/transport.h"
#include "testing/http_server.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kKiB = 1024;
constexpr char kTooLarge[] = ": the response is larger than 100 KiB";

RestConfig Limited(const std::string& url) {
  RestConfig config = ConfigFor(url);
  config.max_response_bytes = 100 * kKiB;
  config.max_line_bytes = 10 * kKiB;
  return config;
}

RestConfig Limited(const HttpServer& server) { return Limited(server.url()); }

// Answers with the beginning of a body that never ends.
using Begin = std::function<void(ServerReply&)>;

void BeginWithALength(ServerReply& reply) {
  reply.Raw("HTTP/1.1 200 OK\r\nContent-Length: 102401\r\n\r\n");
}
void BeginWithoutALength(ServerReply& reply) {
  reply.Raw("HTTP/1.1 200 OK\r\n\r\n" + std::string(300 * kKiB, 'x'));
}
void BeginWithChunks(ServerReply& reply) {
  reply.Start();
  for (int i = 0; i < 101; ++i) reply.Chunk(std::string(kKiB, 'x'));
}
void BeginAnError(ServerReply& reply) {
  reply.Start(500);
  for (int i = 0; i < 101; ++i) reply.Chunk(std::string(kKiB, 'x'));
}

class TransportLimitTest : public testing::TestWithParam<Begin> {};

INSTANTIATE_TEST_SUITE_P(, TransportLimitTest,
                         testing::Values(BeginWithALength, BeginWithoutALength,
                                         BeginWithChunks, BeginAnError));

TEST_P(TransportLimitTest, EndsAResponseThatIsTooLarge) {
  HttpServer server(
      [](const ServerRequest&, ServerReply reply) { GetParam()(reply); });
  Transport transport(Limited(server));
  const Outcome outcome = OutcomeOf([&] { transport.Send(kGetPods, {}); });
  EXPECT_EQ(outcome.kind, "kProtocol") << outcome;
  EXPECT_EQ(outcome.message, server.url() + kTooLarge);
  EXPECT_TRUE(server.AwaitOpenConnections(0));
}

TEST_F(TransportLimitTest, AcceptsResponsesUpToTheLimit) {
  const std::string body(100 * kKiB, 'x');
  HttpServer server([&](const ServerRequest& request, ServerReply reply) {
    if (request.target == "/whole") return reply.Send(200, body);
    reply.Start();
    for (int i = 0; i < 100; ++i) reply.Chunk(body.substr(0, kKiB));
    reply.End();
  });
  Transport transport(Limited(server));
  for (const std::string path : {"/whole", "/chunks", "/whole", "/chunks"}) {
    HttpRequest request = kGetPods;
    request.path = path;
    EXPECT_EQ(transport.Send(request, {}).body, body) << path;
  }
  EXPECT_EQ(server.accepted_connections(), 1);
}

TEST_F(TransportLimitTest, EndsTheResponseToAStreamThatFails) {
  HttpServer server(
      [](const ServerRequest&, ServerReply reply) { BeginAnError(reply); });
  Transport transport(Limited(server));
  const Outcome outcome = OutcomeOf([&] { transport.Open(kGetPods, 1h, {}); });
  EXPECT_EQ(outcome.kind, "kProtocol") << outcome;
  EXPECT_EQ(outcome.message, server.url() + kTooLarge);
  EXPECT_TRUE(server.AwaitOpenConnections(0));
}

TEST_F(TransportLimitTest, EndsAStreamWithALineThatIsTooLong) {
  HttpServer server([](const ServerRequest&, ServerReply reply) {
    reply.Start();
    reply.Chunk(std::string(10 * kKiB, 'x') + "\n" +
                std::string(10 * kKiB + 1, 'x') + "\n");
  });
  Transport transport(Limited(server));
  const auto stream = transport.Open(kGetPods, 1h, {});
  EXPECT_EQ(stream->ReadLine()->size(), 10 * kKiB);
  const Outcome outcome = OutcomeOf([&] { stream->ReadLine(); });
  EXPECT_EQ(outcome.kind, "kProtocol") << outcome;
  EXPECT_EQ(outcome.message,
            server.url() + ": a line of the response is longer than 10 KiB");
}

TEST_F(TransportLimitTest, EndsAStreamWithALineWithoutEnd) {
  HttpServer server([](const ServerRequest&, ServerReply reply) {
    reply.Start();
    reply.Chunk(std::string(11 * kKiB, 'x'));
  });
  Transport transport(Limited(server));
  const auto stream = transport.Open(kGetPods, 1h, {});
  EXPECT_EQ(OutcomeOf([&] { stream->ReadLine(); }).kind, "kProtocol");
}

// A watch has no length. Only what was not read yet takes memory.
TEST_F(TransportLimitTest, AStreamMayBeLongerThanTheLimit) {
  std::optional<ServerReply> reply;
  HttpServer server([&](const ServerRequest&, ServerReply r) {
    r.Start();
    reply = std::move(r);
  });
  Transport transport(Limited(server));
  const auto stream = transport.Open(kGetPods, 1h, {});
  for (int i = 0; i < 300; ++i) {
    reply->Chunk(std::string(kKiB, 'x') + "\n");
    ASSERT_EQ(stream->ReadLine()->size(), kKiB);
  }
}

TEST_F(TransportLimitTest, EndsAStreamThatIsReadTooSlowly) {
  HttpServer server([](const ServerRequest&, ServerReply reply) {
    reply.Start();
    for (int i = 0; i < 300; ++i) reply.Chunk(std::string(kKiB, 'x') + "\n");
  });
  Transport transport(Limited(server));
  const auto stream = transport.Open(kGetPods, 1h, {});
  EXPECT_TRUE(server.AwaitOpenConnections(0));
  const Outcome outcome = OutcomeOf([&] {
    while (stream->ReadLine()) {
    }
  });
  EXPECT_EQ(outcome.kind, "kProtocol") << outcome;
  EXPECT_EQ(outcome.message, server.url() + kTooLarge);
}

// A body that doesn't end.
struct Endless {
  std::string name;
  std::string begin;
  std::string rest;
};

class TransportEndlessTest : public testing::TestWithParam<Endless> {
 protected:
  // Expects that the error is the limit's, and that the client has read only a
  // little more than the limit: the rest is in the kernel's buffers.
  void ExpectEnd(const Outcome& outcome) {
    EXPECT_EQ(outcome.kind, "kProtocol") << outcome;
    EXPECT_EQ(outcome.message, server_.url() + kTooLarge);
    EXPECT_LT(server_.AwaitSent(), EndlessServer::kMost / 2);
  }

  EndlessServer server_{GetParam().begin, GetParam().rest};
  Transport transport_{Limited(server_.url())};
};

TEST_P(TransportEndlessTest, EndsARequest) {
  ExpectEnd(OutcomeOf([&] { transport_.Send(kGetPods, {}); }));
}

TEST_P(TransportEndlessTest, EndsAStreamThatIsNotRead) {
  const auto stream = transport_.Open(kGetPods, 1h, {});
  server_.AwaitSent();
  ExpectEnd(OutcomeOf([&] {
    while (stream->ReadLine()) {
    }
  }));
}

std::vector<Endless> EndlessResponses() {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += std::string(63, 'x') + "\n";
  return {{"WithoutLength", ok + "\r\n", lines},
          {"Chunks", ok + "Transfer-Encoding: chunked\r\n\r\n",
           "400\r\n" + lines.substr(0, 0x400) + "\r\n"}};
}

INSTANTIATE_TEST_SUITE_P(, TransportEndlessTest,
                         testing::ValuesIn(EndlessResponses()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace minisched
