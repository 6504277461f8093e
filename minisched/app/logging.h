#pragma once

// What programs log with: spdlog::info("bound {} to {}", pod, node) and so on.
// Messages are for people, begin in lower case and name what they are about.
#include <spdlog/spdlog.h>

namespace minisched {

// Sends the log to stderr, in colour on a terminal. Verbosity 0 shows info and
// above, 1 debug too, 2 trace too.
void SetUpLogging(int verbosity);

}  // namespace minisched
