#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "lab/live/recording.h"

namespace minisched::live {

// Returns a page that shows the recording without a server: one HTML file, from
// which a browser loads nothing else. The page has its own script and style,
// the only ones that it allows, and the recording as base64 of gzip of JSON:
// {"start", "base", "items", "attempts", "lists"}. Numbers replace the uids,
// which would take up most of the file. The page first shows the moment before
// the item with the index `moment`, or the end if it is nullopt.
std::string ExportPage(const Recording& recording,
                       std::optional<std::size_t> moment = std::nullopt);

}  // namespace minisched::live
