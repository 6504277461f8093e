#pragma once

#include "minisched/base/log.h"

namespace minisched {

// Sends the log to stderr, in colour on a terminal. Escapes control characters
// and broken UTF-8 in messages, except for line ends before two spaces, as in a
// table. Verbosity 0 shows info and above, 1 adds debug, 2 adds trace.
void SetUpLogging(int verbosity);

}  // namespace minisched
