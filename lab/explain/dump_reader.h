#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "lab/explain/objects.h"

namespace minisched::explain {

// Reads the objects of a file, of standard input ("-"), or of all .json, .yaml
// and .yml files below a folder, such as that of `kubectl cluster-info dump`.
// Blocks while a pipe has a writer. Throws CannotTell, ConfigError, or
// Cancelled.
void ReadDump(const std::string& path, Objects& objects,
              const std::stop_token& stop);

// Reads objects from text: documents in YAML or JSON, each an object or a list,
// an export of kube-scheduler-simulator, or a line of a recording. Throws
// CannotTell with "SOURCE:LINE:COLUMN: what is wrong".
void ReadDumpText(std::string_view text, const std::string& source,
                  Objects& objects);

// Reads one JSON document, as ReadDumpText() does, but replaces objects that
// are there already. Returns the metadata.continue of a list. For the pages of
// a cluster.
std::string ReadPage(const std::string& text, const std::string& source,
                     Objects& objects);

}  // namespace minisched::explain
