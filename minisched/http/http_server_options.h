#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "minisched/http/http.h"

namespace minisched::http {

struct HttpServerOptions {
  std::string address = "127.0.0.1";
  // 0 picks a free port.
  unsigned short port = 0;
  // The largest body of a request, in bytes.
  std::size_t max_body = 3 << 20;
  // Returns the reply to a request whose body is too large (413), or whose
  // handler throws (500).
  std::function<Reply(int status, const std::string& message)> error_reply =
      [](int status, const std::string& message) {
        return TextReply(message + "\n", status);
      };
};

}  // namespace minisched::http
