#pragma once

// For the client's own .cc files, because it includes Asio.

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace minisched {

using Addresses = std::vector<boost::asio::ip::tcp::endpoint>;

// Looks up a host, which is a name or an address, and calls back on the I/O
// thread with its addresses. There are none if no such host is known.
void Resolve(const std::string& host, std::uint16_t port,
             std::function<void(const Addresses&)> done);

}  // namespace minisched
