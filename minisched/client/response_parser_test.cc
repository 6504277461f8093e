#include "minisched/client/response_parser.h"

#include <gtest/gtest.h>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <string>

namespace minisched {
namespace {

using HttpError = boost::beast::http::error;

constexpr ResponseParser::Options kOptions{.max_body = 100};

// A parser and what a connection has read.
struct Receiver {
  boost::system::error_code Receive(const std::string& bytes) {
    const auto size = boost::asio::buffer_copy(input.prepare(bytes.size()),
                                               boost::asio::buffer(bytes));
    input.commit(size);
    return parser.Receive({}, input);
  }

  ResponseParser parser{kOptions};
  boost::beast::flat_buffer input;
};

TEST(ResponseParserTest, ParsesTheSameHoweverTheBytesCome) {
  const std::string response =
      "HTTP/1.1 201 Created\r\nA: 1\r\nb:2\r\nTransfer-Encoding: chunked\r\n"
      "\r\n3;x=y\r\nabc\r\n1\r\nd\r\n0\r\nTrailer: x\r\n\r\n";
  for (std::size_t step = 1; step <= response.size(); ++step) {
    Receiver receiver;
    for (std::size_t at = 0; at < response.size(); at += step) {
      EXPECT_FALSE(receiver.Receive(response.substr(at, step))) << step;
    }
    ASSERT_TRUE(receiver.parser.is_done()) << step;
    EXPECT_TRUE(receiver.parser.keep_alive());
    EXPECT_EQ(receiver.input.size(), 0);
    EXPECT_EQ(receiver.parser.TakeBody(), "abcd");
    const HttpResponse head = receiver.parser.TakeHead();
    EXPECT_EQ(head.status, 201);
    EXPECT_EQ(head.headers,
              (std::map<std::string, std::string>{
                  {"a", "1"}, {"b", "2"}, {"transfer-encoding", "chunked"}}));
  }
}

// Beast's own limit holds for each of these reads, and not for all of them. A
// field is complete when the first byte of the next one has come.
TEST(ResponseParserTest, LimitsHeadersThatComeOneByOne) {
  Receiver receiver;
  EXPECT_FALSE(receiver.Receive("HTTP/1.1 200 OK\r\nX"));
  const std::string field = ": " + std::string(1000, 'y') + "\r\nX";
  std::size_t size = 0;
  while (!receiver.Receive(field)) {
    size += field.size();
    ASSERT_LE(size, kMaxHeadBytes);
    ASSERT_LE(receiver.input.size(), field.size());
  }
  EXPECT_GT(size, kMaxHeadBytes - 2 * field.size());
}

TEST(ResponseParserTest, LeavesTheNextResponse) {
  Receiver receiver;
  EXPECT_FALSE(receiver.Receive("HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1"));
  EXPECT_TRUE(receiver.parser.is_done());
  EXPECT_EQ(receiver.input.size(), 8);
}

TEST(ResponseParserTest, DistinguishesTheEndsOfTheConnection) {
  struct Case {
    std::string received;
    boost::system::error_code error;
  };
  for (const Case& c : {
           Case{"", HttpError::end_of_stream},
           {"H", HttpError::partial_message},
           {"HTTP/1.1 200 OK\r\n", HttpError::partial_message},
           {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na",
            HttpError::partial_message},
           {"HTTP/1.1 200 OK\r\n\r\na", {}},
       }) {
    Receiver receiver;
    if (!c.received.empty()) receiver.Receive(c.received);
    EXPECT_EQ(receiver.parser.Receive(boost::asio::error::eof, receiver.input),
              c.error)
        << c.received;
  }
}

}  // namespace
}  // namespace minisched
