#pragma once

#include <cstdint>
#include <string>

#include "minisched/client/transport.h"

namespace minisched {

// The parts of a server's URL, "https://h:6443/path".
struct ServerAddress {
  bool is_https = false;
  // A name in lower case, or an address without brackets.
  std::string host;
  std::uint16_t port = 0;  // of the URL, or the scheme's default
  // The Host header: "h:6443", "[::1]:80"; without a port if the URL has none.
  std::string authority;
  // The prefix of all request paths: "" or "/path", without a slash at the end.
  std::string path;
};

// Parses an http:// or https:// URL without user, query and fragment. Throws
// ConfigError if `url` is anything else; `source` names the configuration.
ServerAddress ParseServerAddress(const std::string& url,
                                 const std::string& source);

// Returns the path and the query of a request to the server, encoded:
// "/api/v1/pods?limit=1".
std::string TargetOf(const ServerAddress& server, const HttpRequest& request);

}  // namespace minisched
