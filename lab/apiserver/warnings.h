#pragma once

#include <string>
#include <vector>

#include "lab/apiserver/http/http.h"

namespace minisched::apiserver {

// Adds a Warning header for each text, without its repetitions. If the texts
// are longer than 4096 characters in all, each is cut to 256 characters, and
// what is beyond the 4096 is left out: clients read headers of limited length.
// Follows apiserver pkg/endpoints/filters/warning.go.
void AddWarnings(const std::vector<std::string>& texts, Reply& reply);

}  // namespace minisched::apiserver
