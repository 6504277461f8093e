#include "minisched/http/server_thread.h"

#include <gmock/gmock.h>

#include <boost/asio/read_until.hpp>
#include <optional>
#include <stdexcept>

#include "minisched/http/http_testing.h"

namespace minisched::http {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

// More than the buffers of a connection hold.
constexpr std::size_t kLarge = 64 << 20;

Reply Echo(const Request& request) {
  if (request.path == "/throw") throw std::runtime_error("out of order");
  if (request.path == "/large") return TextReply(std::string(kLarge, 'x'));
  return TextReply(request.method + " " + request.path);
}

TEST(ServerThreadTest, AnswersRequests) {
  const ServerThread server({}, Echo);
  EXPECT_THAT(Ask(server.url(), "GET", "/a"), EndsWith("\r\n\r\nGET /a"));
}

TEST(ServerThreadTest, AnswersInPlainTextWhenTheHandlerThrows) {
  const ServerThread server({}, Echo);
  const std::string answer = Ask(server.url(), "GET", "/throw");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(answer, EndsWith("Internal error occurred: out of order\n"));
  EXPECT_THAT(Ask(server.url(), "GET", "/a"), EndsWith("GET /a"));
}

TEST(ServerThreadTest, RefusesABodyAboveItsLimit) {
  const ServerThread server({.max_body = 3}, Echo);
  const std::string head = "PUT /a HTTP/1.1\r\nHost: localhost\r\n";
  EXPECT_THAT(Exchange(server.url(), head + "Content-Length: 4\r\n\r\nbody"),
              AllOf(StartsWith("HTTP/1.1 413 "), EndsWith(": limit is 3\n")));
  EXPECT_THAT(Exchange(server.url(), head + "Connection: close\r\n"
                                            "Content-Length: 3\r\n\r\nbod"),
              StartsWith("HTTP/1.1 200 "));
}

TEST(ServerThreadTest, FailsIfThePortIsInUse) {
  const ServerThread server({}, Echo);
  const std::string port = server.url().substr(server.url().rfind(':') + 1);
  try {
    const ServerThread second(
        {.port = static_cast<unsigned short>(std::stoi(port))}, Echo);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(error.what(), "cannot listen on 127.0.0.1:" + port +
                                ": Address already in use");
  }
}

// Addresses that are for documentation only, so that no machine has them.
TEST(ServerThreadTest, FailsIfTheAddressIsNotLocal) {
  const auto error = [](const std::string& address) -> std::string {
    try {
      const ServerThread server({.address = address, .port = 7}, Echo);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error("192.0.2.1"),
            "cannot listen on 192.0.2.1:7: Cannot assign requested address");
  // The rest depends on whether the system has IPv6.
  EXPECT_THAT(error("2001:db8::1"),
              StartsWith("cannot listen on [2001:db8::1]:7: "));
}

TEST(ServerThreadTest, FailsIfTheAddressIsNoIpAddress) {
  for (const std::string address : {"", "localhost", "[::1]"}) {
    try {
      const ServerThread server({.address = address}, Echo);
      ADD_FAILURE() << address;
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(),
                "cannot listen on \"" + address + "\": not an IP address");
    }
  }
}

TEST(ServerThreadTest, AnswersOthersWhileClientsAreSlow) {
  const ServerThread server({}, Echo);
  asio::io_context io;
  auto half = Connect(io, server.url());
  Send(half, "GET /a HTTP/1.1\r\nHost: loc");
  auto unread = Connect(io, server.url());
  Send(unread, "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(Ask(server.url(), "GET", "/b"), EndsWith("GET /b"));
  Send(half, "alhost\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(ReadAll(half), EndsWith("GET /a"));
}

TEST(ServerThreadTest, EndsWithOpenConnections) {
  std::optional<ServerThread> server(std::in_place, HttpServerOptions{}, Echo);
  const std::string url = server->url();
  asio::io_context io;
  auto silent = Connect(io, url);
  auto half = Connect(io, url);
  Send(half, "GET /a HTTP/1.1\r\nHost: loc");
  auto idle = Connect(io, url);
  Send(idle, "GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n");
  std::string text;
  asio::read_until(idle, asio::dynamic_buffer(text), "GET /a");
  auto unread = Connect(io, url);
  Send(unread, "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
  std::string begin(100, ' ');
  asio::read(unread, asio::buffer(begin));

  server.reset();
  EXPECT_EQ(ReadAll(silent), "");
  EXPECT_EQ(ReadAll(half), "");
  EXPECT_EQ(ReadAll(idle), "");
  EXPECT_LT(ReadAll(unread).size(), kLarge - 100);
  EXPECT_THROW(Connect(io, url), boost::system::system_error);
}

}  // namespace
}  // namespace minisched::http
