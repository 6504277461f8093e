#pragma once

#include <string>
#include <vector>

#include "lab/apiserver/http.h"

namespace minisched::apiserver {

// Adds a Warning header to `reply` for each distinct text. Skips texts that are
// empty or have control characters. Clients limit the length of headers. So if
// the texts have more than 4096 characters together, AddWarnings() cuts each
// text to 256 characters, and adds no more texts after the first 4096
// characters. Follows apiserver pkg/endpoints/filters/warning.go.
void AddWarnings(const std::vector<std::string>& texts, Reply& reply);

}  // namespace minisched::apiserver
