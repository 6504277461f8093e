#include "minisched/client/connection_pool.h"

#include <gtest/gtest.h>

#include <boost/asio/post.hpp>
#include <chrono>
#include <future>
#include <memory>

#include "testing/http_server.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;

// A server, and the pool of its client.
class ConnectionPoolTest : public testing::Test {
 protected:
  std::shared_ptr<ConnectionPool> MakePool(std::chrono::milliseconds keep_for) {
    return MakeForIoThread<ConnectionPool>(
        ParseServerAddress(server_.url(), "test"), nullptr, keep_for);
  }

  // Calls a function on the I/O thread.
  template <class Call>
  static auto OnIoThread(Call call) {
    std::packaged_task<decltype(call())()> task(std::move(call));
    auto result = task.get_future();
    boost::asio::post(IoContext(), [&] { task(); });
    return result.get();
  }

  std::shared_ptr<Connection> Connect(ConnectionPool& pool) {
    std::promise<std::shared_ptr<Connection>> connected;
    boost::asio::post(IoContext(), [&] {
      const auto connection = pool.Make();
      connection->Connect([&connected, connection](auto, auto error) {
        EXPECT_FALSE(error);
        connected.set_value(connection);
      });
    });
    return connected.get_future().get();
  }

  HttpServer server_{[](const ServerRequest&, ServerReply) {}};
};

TEST_F(ConnectionPoolTest, TakesTheConnectionThatWasReturnedLast) {
  const auto pool = MakePool(1h);
  const auto a = Connect(*pool);
  const auto b = Connect(*pool);
  OnIoThread([&] {
    EXPECT_EQ(pool->Take(), nullptr);
    pool->Return(a, true);
    pool->Return(b, true);
    EXPECT_EQ(pool->Take(), b);
    EXPECT_EQ(pool->Take(), a);
    EXPECT_EQ(pool->Take(), nullptr);
  });
}

TEST_F(ConnectionPoolTest, ClosesAConnectionThatIsNotToBeKept) {
  const auto pool = MakePool(1h);
  auto connection = Connect(*pool);
  OnIoThread([&] { pool->Return(std::move(connection), false); });
  EXPECT_TRUE(server_.AwaitOpenConnections(0));
}

TEST_F(ConnectionPoolTest, ClosesAConnectionThatIsNotUsed) {
  const auto pool = MakePool(10ms);
  for (int i = 0; i < 2; ++i) {
    auto connection = Connect(*pool);
    ASSERT_TRUE(server_.AwaitOpenConnections(1));
    OnIoThread([&] { pool->Return(std::move(connection), true); });
    EXPECT_TRUE(server_.AwaitOpenConnections(0));
  }
}

TEST_F(ConnectionPoolTest, ClosesItsConnectionsAtTheEnd) {
  auto pool = MakePool(1h);
  auto connection = Connect(*pool);
  OnIoThread([&] { pool->Return(std::move(connection), true); });
  EXPECT_TRUE(server_.AwaitOpenConnections(1));
  pool.reset();
  EXPECT_TRUE(server_.AwaitOpenConnections(0));
}

}  // namespace
}  // namespace minisched
