#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "minisched/http/http.h"

namespace minisched::http {

struct HttpServerOptions {
  std::string address = "127.0.0.1";
  // 0 picks a free port.
  unsigned short port = 0;
  // The largest body of a request, in bytes.
  std::size_t max_body = 3 << 20;
  // The most open connections. Closes each further connection at once.
  std::size_t max_connections = std::numeric_limits<std::size_t>::max();
  // Headers of every response, also of those without the handler.
  std::vector<std::pair<std::string, std::string>> headers = {};
  // Returns the reply to a request whose body is too large (413), or whose
  // handler throws (500).
  std::function<Reply(int status, const std::string& message)> error_reply =
      [](int status, const std::string& message) {
        return TextReply(message + "\n", status);
      };
};

}  // namespace minisched::http
