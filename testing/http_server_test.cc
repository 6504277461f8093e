#include "testing/http_server.h"

#include <gtest/gtest.h>

#include <thread>

#include "minisched/client/rest_config.h"
#include "minisched/client/transport.h"

namespace minisched {
namespace {

// Another thread sends its parts before the handler returns.
TEST(HttpServerTest, PartsOfAReplyKeepTheirOrderAcrossThreads) {
  HttpServer server([](const ServerRequest&, ServerReply reply) {
    reply.Start();
    std::jthread([&] {
      reply.Chunk("hello");
      reply.End();
    }).join();
  });
  Transport transport(RestConfig{.server = server.url()});
  EXPECT_EQ(transport.Send({.method = "GET", .path = "/"}, {}).body, "hello");
}

}  // namespace
}  // namespace minisched
