#include "minisched/client/proxy.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>
#include <sstream>

namespace minisched {
namespace {

// An IPv4 address is mapped: ::ffff:10.0.0.1.
using Address = std::array<std::uint8_t, 16>;
constexpr std::size_t kMapped = 12;  // the bytes before the IPv4 address

struct HostPort {
  std::string host;  // without brackets
  std::string port;  // empty: none
};

std::optional<Address> ParseAddress(const std::string& text) {
  Address address{};
  if (inet_pton(AF_INET6, text.c_str(), address.data()) == 1) return address;
  address[10] = address[11] = 0xff;
  if (inet_pton(AF_INET, text.c_str(), &address[kMapped]) == 1) return address;
  return std::nullopt;
}

bool IsLoopback(const std::string& host) {
  const auto address = ParseAddress(host);
  if (!address) return host == "localhost";
  return address == ParseAddress("::1") ||
         (std::equal(address->begin(), address->begin() + kMapped,
                     ParseAddress("127.0.0.1")->begin()) &&
          (*address)[kMapped] == 127);
}

// Returns true if `text` is a range of addresses that contains `address`;
// nullopt if `text` is no range.
std::optional<bool> InRange(const std::string& text,
                            const std::optional<Address>& address) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const std::string prefix = text.substr(0, slash);
  const auto first = ParseAddress(prefix);
  std::size_t bits = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + slash + 1, end, bits);
  const bool is_ipv6 = prefix.find(':') != std::string::npos;
  if (!first || parsed.ec != std::errc() || parsed.ptr != end ||
      bits > (is_ipv6 ? 128 : 32)) {
    return std::nullopt;
  }
  if (!address) return false;
  if (!is_ipv6) bits += kMapped * 8;
  for (std::size_t i = 0; i < bits; ++i) {
    const int mask = 0x80 >> (i % 8);
    if (((*first)[i / 8] & mask) != ((*address)[i / 8] & mask)) return false;
  }
  return true;
}

// "h", "h:80", "[::1]:80", "::1".
HostPort Split(const std::string& text) {
  HostPort result;
  const std::size_t bracket = text.starts_with('[') ? text.find(']') : 0;
  const std::size_t colon = text.rfind(':');
  const bool has_port = colon != std::string::npos && colon > bracket &&
                        bracket != text.npos &&
                        (bracket > 0 || text.find(':') == colon);
  result.host = text.substr(0, has_port ? colon : text.npos);
  if (has_port) result.port = text.substr(colon + 1);
  if (result.host.starts_with('[') && result.host.ends_with(']')) {
    result.host = result.host.substr(1, result.host.size() - 2);
  }
  return result;
}

// Returns true if an entry of $NO_PROXY stands for the server.
bool Matches(const std::string& entry, const HostPort& server) {
  if (entry == "*") return true;
  const auto address = ParseAddress(server.host);
  if (const auto in_range = InRange(entry, address)) return *in_range;
  auto [host, port] = Split(entry);
  if (host.empty() || (!port.empty() && port != server.port)) return false;
  if (const auto excluded = ParseAddress(host)) return excluded == address;
  if (host.starts_with("*.")) host.erase(0, 1);
  if (host.starts_with('.')) return server.host.ends_with(host);
  return server.host == host || server.host.ends_with("." + host);
}

std::string ToLower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return text;
}

}  // namespace

bool NeedsProxy(const std::string& server, const std::string& no_proxy) {
  const std::string url = ToLower(server);
  const std::size_t begin = url.find("://") + 3;
  HostPort address = Split(url.substr(begin, url.find('/', begin) - begin));
  if (address.port.empty()) {
    address.port = url.starts_with("https:") ? "443" : "80";
  }
  if (IsLoopback(address.host)) return false;
  std::istringstream entries(ToLower(no_proxy));
  for (std::string entry; std::getline(entries, entry, ',');) {
    const std::size_t first = entry.find_first_not_of(" \t");
    if (first == std::string::npos) continue;
    entry = entry.substr(first, entry.find_last_not_of(" \t") + 1 - first);
    if (Matches(entry, address)) return false;
  }
  return true;
}

}  // namespace minisched
