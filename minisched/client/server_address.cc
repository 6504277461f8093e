#include "minisched/client/server_address.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "minisched/base/printable.h"
#include "minisched/client/errors.h"
#include "minisched/client/tls.h"

namespace minisched {
namespace {

constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;

void LowerCase(std::string& text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
}

// Removes the text up to `separator` from `rest` and returns it, without the
// separator. Returns nullopt if there is no separator.
std::optional<std::string> CutBefore(std::string_view separator,
                                     std::string& rest) {
  const std::size_t at = rest.find(separator);
  if (at == std::string::npos) return std::nullopt;
  std::string before = rest.substr(0, at);
  rest.erase(0, at + separator.size());
  return before;
}

bool IsHostName(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '.' || c == '_' || c == '~';
  });
}

// Printable ASCII; the client sends the path as it is.
bool IsPath(const std::string& text) {
  return std::ranges::all_of(text, [](unsigned char c) {
    return std::isgraph(c) && c != '?' && c != '#';
  });
}

std::optional<std::uint16_t> ParsePort(const std::string& text) {
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, port);
  if (error != std::errc() || parsed != end || port == 0) return std::nullopt;
  return port;
}

// Sets host and port. Returns false if they can't be parsed.
bool ParseAuthority(ServerAddress& address) {
  const std::string& text = address.authority;
  const std::size_t bracket = text.find(']');
  const std::size_t host_end = text.starts_with('[') && bracket != text.npos
                                   ? bracket + 1
                                   : text.find(':');
  address.host = text.substr(0, host_end);
  const bool is_ipv6 = address.host.starts_with('[');
  if (is_ipv6 ? !IsIpAddress(address.host) : !IsHostName(address.host)) {
    return false;
  }
  const std::string rest = text.substr(address.host.size());
  if (is_ipv6) address.host = address.host.substr(1, address.host.size() - 2);
  address.port = address.is_https ? kHttpsPort : kHttpPort;
  if (rest.empty()) return true;
  const auto port = ParsePort(rest.substr(1));
  address.port = port.value_or(0);
  return rest.starts_with(':') && port;
}

// Returns nullopt if `url` is not an address of a server.
std::optional<ServerAddress> ParseUrl(std::string url) {
  auto scheme = CutBefore("://", url);
  if (!scheme) return std::nullopt;
  LowerCase(*scheme);
  if (*scheme != "http" && *scheme != "https") return std::nullopt;
  ServerAddress address{.is_https = *scheme == "https"};
  const std::size_t path = std::min(url.find('/'), url.size());
  address.path = url.substr(path);
  while (address.path.ends_with('/')) address.path.pop_back();
  while (address.path.starts_with("//")) address.path.erase(0, 1);
  address.authority = url.substr(0, path);
  LowerCase(address.authority);
  if (!ParseAuthority(address) || !IsPath(address.path)) return std::nullopt;
  return address;
}

// The characters that are not encoded: the first ones in a query, both kinds in
// a path. "+" is encoded, because some servers decode it to a space.
constexpr std::string_view kUnreserved =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
constexpr std::string_view kAlsoInPaths = "!$&'()*,;=:@/";

void AppendEncoded(std::string& out, const std::string& text,
                   std::string_view also = "") {
  constexpr char kHex[] = "0123456789ABCDEF";
  for (const char c : text) {
    if (kUnreserved.find(c) != std::string_view::npos ||
        also.find(c) != std::string_view::npos) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 0xf];
    }
  }
}

}  // namespace

ServerAddress ParseServerAddress(const std::string& url,
                                 const std::string& source) {
  auto address = ParseUrl(url);
  // user:password@host is basic authentication. The message doesn't quote the
  // URL, because it contains a password.
  if (!address && url.find('@') != std::string::npos) {
    throw ConfigError(source + ": a server with a user name is not supported");
  }
  if (!address) {
    throw ConfigError(source + ": the server \"" + Printable(url) +
                      "\" is not an http:// or https:// URL");
  }
  return *std::move(address);
}

std::string TargetOf(const ServerAddress& server, const HttpRequest& request) {
  std::string target = server.path;
  if (!request.path.starts_with('/')) target += '/';
  AppendEncoded(target, request.path, kAlsoInPaths);
  char separator = '?';
  for (const auto& [key, value] : request.query) {
    target += std::exchange(separator, '&');
    AppendEncoded(target, key);
    target += '=';
    AppendEncoded(target, value);
  }
  return target;
}

}  // namespace minisched
