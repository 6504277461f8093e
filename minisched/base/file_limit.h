#pragma once

namespace minisched {

// Raises the process's soft limit on open files to its hard limit, as Go's
// runtime does: each connection is an open file. The usual soft limit, 1,024,
// is meant for programs that use select().
void RaiseFileLimit();

}  // namespace minisched
