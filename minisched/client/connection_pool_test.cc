// Which idle connections are used again.

#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <memory>

#include "minisched/base/fake_clock.h"
#include "minisched/client/connection.h"
#include "minisched/client/io_thread.h"
#include "minisched/client/server.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;

class ConnectionPoolTest : public testing::Test {
 protected:
  ConnectionPoolTest() { IoContext(); }

  // Keeps a new connection.
  std::shared_ptr<Connection> Return() {
    const auto connection = MakeConnection({}, nullptr);
    pool_.Return(connection);
    return connection;
  }

  FakeClock clock_;
  ConnectionPool pool_{clock_};
};

TEST_F(ConnectionPoolTest, AConnectionIsUsedAgainWithin30Seconds) {
  const auto connection = Return();
  clock_.Advance(30s);
  EXPECT_EQ(pool_.Take(), connection);
  EXPECT_EQ(pool_.Take(), nullptr);
}

TEST_F(ConnectionPoolTest, AnOlderConnectionIsClosed) {
  const std::weak_ptr<Connection> connection = Return();
  clock_.Advance(30s + 1ms);
  EXPECT_EQ(pool_.Take(), nullptr);
  EXPECT_TRUE(connection.expired());
}

TEST_F(ConnectionPoolTest, EachConnectionHasItsOwnAge) {
  const std::weak_ptr<Connection> old = Return();
  clock_.Advance(20s);
  const auto young = Return();
  clock_.Advance(20s);
  EXPECT_EQ(pool_.Take(), young);
  EXPECT_EQ(pool_.Take(), nullptr);
  EXPECT_TRUE(old.expired());
}

}  // namespace
}  // namespace minisched
