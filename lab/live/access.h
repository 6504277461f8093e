#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "minisched/http/http.h"

namespace minisched::live {

// The rules by which a server of the live page accepts requests. They keep out
// other web pages in the same browser, and other users of the machine.
struct Access {
  // If not empty: each request must have this token, as a cookie or, for the
  // first request, in the URL.
  std::string token;
  // Whether a page may change the cluster, and control the scheduler.
  bool control = false;
  // The server's port, which is part of the cookie's name, because a browser
  // sends a cookie to all ports of a host.
  unsigned short port = 0;

  // Returns nullopt if the server should handle the request. Otherwise, returns
  // the reply: a refusal or, if the URL has the right token, a redirection that
  // sets the cookie. Checks, in this order, Host, the token, the origin, the
  // type of a write, and whether writes are allowed.
  std::optional<http::Reply> Check(const http::Request& request) const;
};

// Returns the name of the cookie with the token of the server at this port.
std::string TokenCookie(std::string_view port);

// Returns 128 random bits as 32 hexadecimal digits.
std::string NewToken();

// Returns the headers of every response: the page may only run its own script,
// may only talk to its own server, and may not be part of another page.
std::vector<std::pair<std::string, std::string>> SecurityHeaders();

// Returns the reply {"error": message}. The message is one sentence: what is
// wrong, where, and what to do.
http::Reply ErrorReply(int status, const std::string& message);

}  // namespace minisched::live
