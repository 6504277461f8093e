#pragma once

#include <string>

#include "minisched/http/http.h"

// Checks for servers that only programs and pages of this machine may use. They
// reject web pages of other sites that a browser on this machine shows.

namespace minisched::http {

// Returns a Host header without its port: "localhost", "127.0.0.1", "[::1]".
std::string WithoutPort(std::string host);

// True if the request was sent to localhost or 127.0.0.1. Otherwise it may come
// from a page whose host name resolves to this machine (DNS rebinding).
bool HasLocalHost(const Request& request);

// True if the request comes from the server's own page. Browsers without
// Sec-Fetch-Site send the origin of each write.
bool IsSameOrigin(const Request& request);

// True if the request comes from another page. A browser sends "none" if its
// user opens the URL. Other programs send neither of the headers.
bool IsForeign(const Request& request);

}  // namespace minisched::http
