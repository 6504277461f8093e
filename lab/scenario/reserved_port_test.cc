#include "lab/scenario/reserved_port.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace minisched::scenario {
namespace {

using boost::asio::ip::tcp;

class ReservedPortTest : public testing::Test {
 protected:
  // Listens on the port. Throws if the kernel refuses.
  void Listen(bool reuse_address) {
    const tcp::endpoint endpoint(boost::asio::ip::address_v4::loopback(),
                                 port_.number());
    tcp::acceptor acceptor(io_, endpoint, reuse_address);
    tcp::socket client(io_);
    client.connect(endpoint);
    acceptor.accept();
  }

  const ReservedPort port_;
  boost::asio::io_context io_;
};

// The second server is a restarted one.
TEST_F(ReservedPortTest, AServerCanListenOnItAgainAndAgain) {
  EXPECT_NO_THROW(Listen(true));
  EXPECT_NO_THROW(Listen(true));
}

// So the kernel also gives the port to no outgoing connection.
TEST_F(ReservedPortTest, IsTakenForOthers) {
  EXPECT_THROW(Listen(false), boost::system::system_error);
}

}  // namespace
}  // namespace minisched::scenario
