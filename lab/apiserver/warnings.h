#pragma once

#include <string>
#include <vector>

#include "lab/apiserver/http/http.h"

namespace minisched::apiserver {

// Adds a Warning header for each distinct text. Clients limit the length of
// headers: if the texts have more than 4096 characters in all, each is cut to
// 256 characters, and no header is added once there are 4096. Follows apiserver
// pkg/endpoints/filters/warning.go.
void AddWarnings(const std::vector<std::string>& texts, Reply& reply);

}  // namespace minisched::apiserver
