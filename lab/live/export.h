#pragma once

#include <string>

#include "lab/live/recording.h"

namespace minisched::live {

// Returns a page that shows the recording without a server: one HTML file, from
// which a browser loads nothing else. The page has its own script and style,
// the only ones that it allows, and the recording as base64 of gzip of JSON:
// {"start", "base", "items", "attempts", "lists"}.
std::string ExportPage(const Recording& recording);

}  // namespace minisched::live
