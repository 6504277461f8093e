#pragma once

// Programs log with spdlog: spdlog::info("bound {} to {}", pod, node). Messages
// start in lower case and name the objects that they concern.
#include <spdlog/spdlog.h>

namespace minisched {

// Sends the log to stderr, in colour on a terminal. Verbosity 0 shows info and
// above, 1 adds debug, 2 adds trace.
void SetUpLogging(int verbosity);

}  // namespace minisched
