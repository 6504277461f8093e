#pragma once

#include <string>

#include "minisched/client/server_address.h"
#include "minisched/client/transport.h"

namespace minisched {

// Returns the request as HTTP/1.1 sends it: request line, headers and body in
// one text, so that one write sends them. Throws std::invalid_argument if a
// header has a line break, which would end the header.
std::string ToRequestText(const HttpRequest& request,
                          const ServerAddress& server);

}  // namespace minisched
