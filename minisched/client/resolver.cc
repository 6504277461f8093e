#include "minisched/client/resolver.h"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <utility>

#include "minisched/client/io_thread.h"

namespace minisched {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// The thread for lookups. Never destroyed, because a lookup may take long, and
// the program's exit must not wait for it.
asio::thread_pool& Lookups() {
  static asio::thread_pool& thread = *new asio::thread_pool(1);
  return thread;
}

Addresses Lookup(const std::string& host, std::uint16_t port) {
  boost::system::error_code error;
  Addresses addresses;
  for (const auto& found : tcp::resolver(Lookups()).resolve(
           host, std::to_string(port), tcp::resolver::numeric_service, error)) {
    addresses.push_back(found.endpoint());
  }
  return addresses;
}

}  // namespace

void Resolve(const std::string& host, std::uint16_t port,
             std::function<void(const Addresses&)> done) {
  boost::system::error_code is_name;
  const auto address = asio::ip::make_address(host, is_name);
  if (!is_name) {
    return PostToIoThread(
        [done = std::move(done), addresses = Addresses{{address, port}}] {
          done(addresses);
        });
  }
  asio::post(Lookups(), [host, port, done = std::move(done)] {
    PostToIoThread([done, addresses = Lookup(host, port)] { done(addresses); });
  });
}

}  // namespace minisched
