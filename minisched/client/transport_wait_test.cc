// The deadlines of a Transport, and how a stop ends its waits.

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <future>
#include <optional>
#include <sstream>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "minisched/client/client_testing.h"
#include "minisched/client/transport.h"
#include "testing/http_server.h"
#include "testing/pem.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

// A port that neither accepts nor refuses another connection.
class FullListener {
 public:
  FullListener() {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address_;
    auto* address = reinterpret_cast<sockaddr*>(&address_);
    EXPECT_EQ(bind(listener_, address, size), 0);
    EXPECT_EQ(getsockname(listener_, address, &size), 0);
    EXPECT_EQ(listen(listener_, 0), 0);
    // Fills the queue, which is never emptied.
    EXPECT_EQ(connect(first_, address, size), 0);
  }
  ~FullListener() {
    close(first_);
    close(listener_);
  }

  std::string url() const {
    return "http://127.0.0.1:" + std::to_string(ntohs(address_.sin_port));
  }

  // Blocks until a client tries to connect, by the kernel's table.
  void AwaitConnecting() const {
    char port[8];
    std::snprintf(port, sizeof port, ":%04X", ntohs(address_.sin_port));
    while (true) {
      std::ifstream table("/proc/net/tcp");
      std::string line;
      while (std::getline(table, line)) {
        std::istringstream fields(line);
        std::string number, local, remote, state;
        fields >> number >> local >> remote >> state;
        if (remote.ends_with(port) && state == "02" /* SYN_SENT */) return;
      }
      std::this_thread::yield();
    }
  }

 private:
  const int listener_ = socket(AF_INET, SOCK_STREAM, 0);
  const int first_ = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address_{};
};

// Configurations with a short deadline for connecting and for responses.
RestConfig ImpatientToConnect(const std::string& url) {
  RestConfig config = ConfigFor(url);
  config.connect_timeout = 300ms;
  return config;
}

RestConfig ImpatientForAnswers(const std::string& url) {
  RestConfig config = ConfigFor(url);
  config.request_timeout = 1s;
  return config;
}

std::string HttpsUrl(const HttpServer& server) {
  return "https://127.0.0.1:" + std::to_string(server.port());
}

// Expects that a request ends at its deadline, with this message.
void ExpectTimeout(const RestConfig& config, const std::string& message) {
  Transport transport(config);
  const auto start = steady_clock::now();
  const Outcome outcome = OutcomeOf([&] { transport.Send(kGetPods, {}); });
  EXPECT_EQ(outcome.kind, "kTimeout") << outcome;
  EXPECT_EQ(outcome.message, config.server + ": " + message);
  EXPECT_GE(steady_clock::now() - start, 300ms);
  EXPECT_LT(steady_clock::now() - start, kPrompt);
}

TEST(TransportDeadlineTest, HoldsForConnecting) {
  const FullListener listener;
  ExpectTimeout(ImpatientToConnect(listener.url()),
                "no connection within 0.3 s");
}

TEST(TransportDeadlineTest, HoldsForTheTlsHandshake) {
  HttpServer server({}, {.silent = true});
  ExpectTimeout(ImpatientToConnect(HttpsUrl(server)),
                "no connection within 0.3 s");
  EXPECT_TRUE(server.AwaitOpenConnections(0));
}

TEST(TransportDeadlineTest, OfTheRequestIncludesConnecting) {
  const FullListener listener;
  ExpectTimeout(ImpatientForAnswers(listener.url()),
                "no connection within 1 s");
}

TEST(TransportDeadlineTest, BeginsWhenTheRequestMayBeSent) {
  const FullListener listener;
  RestConfig config = ImpatientToConnect(listener.url());
  config.max_in_flight = 1;
  Transport transport(config);
  const auto start = steady_clock::now();
  std::promise<void> first, second;
  transport.SendAsync(std::make_shared<HttpRequest>(kGetPods), {},
                      [&](const auto&) { first.set_value(); });
  transport.SendAsync(std::make_shared<HttpRequest>(kGetPods), {},
                      [&](const auto&) { second.set_value(); });
  first.get_future().wait();
  EXPECT_GE(steady_clock::now() - start, 300ms);
  second.get_future().wait();
  EXPECT_GE(steady_clock::now() - start, 600ms);
}

TEST(TransportDeadlineTest, HoldsForHeaders) {
  HttpServer server([](const ServerRequest&, ServerReply) {});
  ExpectTimeout(ImpatientForAnswers(server.url()), "no response within 1 s");
  EXPECT_TRUE(server.AwaitOpenConnections(0));
}

TEST(TransportDeadlineTest, HoldsForAHeaderWithoutEnd) {
  HttpServer server([](const ServerRequest&, ServerReply reply) {
    reply.Raw("HTTP/1.1 200 OK\r\nX: y");
  });
  ExpectTimeout(ImpatientForAnswers(server.url()), "no response within 1 s");
  EXPECT_TRUE(server.AwaitOpenConnections(0));
}

TEST(TransportDeadlineTest, HoldsForTheBody) {
  HttpServer server([](const ServerRequest&, ServerReply reply) {
    reply.Start();
    reply.Chunk("{");
  });
  ExpectTimeout(ImpatientForAnswers(server.url()), "no response within 1 s");
  EXPECT_TRUE(server.AwaitOpenConnections(0));
}

TEST(TransportDeadlineTest, HoldsForTheHeadersOfAStream) {
  HttpServer server([](const ServerRequest&, ServerReply) {});
  Transport transport(ImpatientForAnswers(server.url()));
  const Outcome outcome = OutcomeOf([&] { transport.Open(kGetPods, 1h, {}); });
  EXPECT_EQ(outcome.kind, "kTimeout");
  EXPECT_TRUE(server.AwaitOpenConnections(0));
}

TEST(TransportDeadlineTest, EndsAStreamThatIsSilent) {
  HttpServer server([](const ServerRequest&, ServerReply reply) {
    reply.Start();
    reply.Chunk("hello\nwor");
  });
  Transport transport(ConfigFor(server.url()));
  const auto stream = transport.Open(kGetPods, 1s, {});
  EXPECT_EQ(stream->ReadLine(), "hello");
  const auto start = steady_clock::now();
  const Outcome outcome = OutcomeOf([&] { stream->ReadLine(); });
  EXPECT_EQ(outcome.kind, "kTimeout");
  EXPECT_EQ(outcome.message, server.url() + ": no response within 1 s");
  EXPECT_LT(steady_clock::now() - start, kPrompt);
  EXPECT_TRUE(server.AwaitOpenConnections(0));
}

TEST(TransportDeadlineTest, DoesNotEndAStreamThatIsNotSilent) {
  std::optional<ServerReply> reply;
  HttpServer server([&](const ServerRequest&, ServerReply r) {
    r.Start();
    reply = std::move(r);
  });
  Transport transport(ImpatientForAnswers(server.url()));
  const auto start = steady_clock::now();
  const auto stream = transport.Open(kGetPods, 10s, {});
  int lines = 0;
  while (steady_clock::now() - start < 1200ms) {
    reply->Chunk("x\n");
    ASSERT_EQ(stream->ReadLine(), "x");
    ++lines;
  }
  EXPECT_GT(lines, 1);
}

TEST(TransportStopTest, EndsARequestBeforeItsStart) {
  HttpServer server([](const ServerRequest&, ServerReply) {});
  Transport transport(ConfigFor(server.url()));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(OutcomeOf([&] { transport.Send(kGetPods, stop.get_token()); }).kind,
            "Cancelled");
}

TEST(TransportStopTest, EndsConnecting) {
  const FullListener listener;
  Transport transport(ConfigFor(listener.url()));
  ExpectStopsPromptly(
      [&](std::stop_token stop) { transport.Send(kGetPods, stop); },
      [&] { listener.AwaitConnecting(); });
}

TEST(TransportStopTest, EndsTheTlsHandshake) {
  HttpServer server({}, {.silent = true});
  Transport transport(ConfigFor(HttpsUrl(server)));
  ExpectStopsPromptly(
      [&](std::stop_token stop) { transport.Send(kGetPods, stop); },
      [&] { ASSERT_TRUE(server.AwaitOpenConnections(1)); });
  EXPECT_TRUE(server.AwaitOpenConnections(0));
}

TEST(TransportStopTest, EndsTheWaitForHeaders) {
  HttpServer server([](const ServerRequest&, ServerReply) {});
  Transport transport(ConfigFor(server.url()));
  ExpectStopsPromptly(
      [&](std::stop_token stop) { transport.Send(kGetPods, stop); },
      [&] { ASSERT_TRUE(server.AwaitRequests(1)); });
  EXPECT_TRUE(server.AwaitOpenConnections(0));
}

TEST(TransportStopTest, EndsTheWaitForTheBody) {
  HttpServer server([](const ServerRequest&, ServerReply reply) {
    reply.Start();
    reply.Chunk("{");
  });
  Transport transport(ConfigFor(server.url()));
  ExpectStopsPromptly(
      [&](std::stop_token stop) { transport.Send(kGetPods, stop); },
      [&] { ASSERT_TRUE(server.AwaitRequests(1)); });
  EXPECT_TRUE(server.AwaitOpenConnections(0));
}

TEST(TransportStopTest, EndsTheWaitForTheHeadersOfAStream) {
  HttpServer server([](const ServerRequest&, ServerReply) {});
  Transport transport(ConfigFor(server.url()));
  ExpectStopsPromptly(
      [&](std::stop_token stop) { transport.Open(kGetPods, 1h, stop); },
      [&] { ASSERT_TRUE(server.AwaitRequests(1)); });
  EXPECT_TRUE(server.AwaitOpenConnections(0));
}

TEST(TransportStopTest, EndsTheWaitForALine) {
  HttpServer server([](const ServerRequest&, ServerReply reply) {
    reply.Start();
    reply.Chunk("hello\nwor");
  });
  Transport transport(ConfigFor(server.url()));
  std::promise<void> first_line;
  ExpectStopsPromptly(
      [&](std::stop_token stop) {
        const auto stream = transport.Open(kGetPods, 1h, stop);
        EXPECT_EQ(stream->ReadLine(), "hello");
        first_line.set_value();
        stream->ReadLine();
      },
      [&] { first_line.get_future().wait(); });
  EXPECT_TRUE(server.AwaitOpenConnections(0));
}

// A stopped request ends by itself, even after its Transport is destroyed.
TEST(TransportStopTest, TheTransportMayBeDestroyedFirst) {
  const TestCa ca = MakeCa("ca");
  const TestCertificate certificate =
      Issue(ca, {.common_name = "server", .alternative_names = {"IP:::1"}});
  HttpServer server(
      [](const ServerRequest&, ServerReply) {},
      {.certificate = certificate.certificate, .key = certificate.key});
  RestConfig config = ConfigFor(server.url());
  config.ca_data = ca.certificate;
  for (int i = 0; i < 5; ++i) {
    std::stop_source stop;
    std::jthread stopper([&] { stop.request_stop(); });
    const Outcome outcome =
        OutcomeOf([&] { Transport(config).Send(kGetPods, stop.get_token()); });
    EXPECT_THAT(outcome.kind, testing::AnyOf("Cancelled", "kTls"));
  }
  EXPECT_TRUE(server.AwaitOpenConnections(0));
}

TEST(TransportConnectTest, LimitsTheRequestsInFlight) {
  HttpServer server({}, {.silent = true});
  RestConfig config = ConfigFor(HttpsUrl(server));
  config.max_in_flight = 10;
  Transport transport(config);
  std::vector<std::stop_source> stops(40);
  std::vector<std::promise<void>> ended(40);
  for (std::size_t i = 0; i < stops.size(); ++i) {
    transport.SendAsync(std::make_shared<HttpRequest>(kGetPods),
                        stops[i].get_token(),
                        [&ended, i](const auto&) { ended[i].set_value(); });
  }
  ASSERT_TRUE(server.AwaitOpenConnections(10));
  // When a request ends (here it is stopped), the next one connects.
  stops[0].request_stop();
  while (server.accepted_connections() < 11) std::this_thread::yield();
  EXPECT_EQ(server.accepted_connections(), 11);
  // A stopped request that waits for its turn ends at once and never connects.
  // Stop the requests in flight last: when one of them ends, the next waiting
  // request connects.
  for (std::size_t i = stops.size(); i-- > 0;) stops[i].request_stop();
  for (std::promise<void>& end : ended) end.get_future().wait();
  EXPECT_TRUE(server.AwaitOpenConnections(0));
  EXPECT_EQ(server.accepted_connections(), 11);
  // Afterwards, a new request connects without waiting.
  ExpectStopsPromptly(
      [&](std::stop_token stop) { transport.Send(kGetPods, stop); },
      [&] { EXPECT_TRUE(server.AwaitOpenConnections(1)); });
}

TEST(TransportStopTest, AStreamClosesItsConnection) {
  HttpServer server([](const ServerRequest&, ServerReply reply) {
    reply.Start();
    reply.Chunk("hello\n");
  });
  Transport transport(ConfigFor(server.url()));
  {
    const auto stream = transport.Open(kGetPods, 1h, {});
    EXPECT_EQ(stream->ReadLine(), "hello");
  }
  EXPECT_TRUE(server.AwaitOpenConnections(0));
}

}  // namespace
}  // namespace minisched
