#pragma once

#include <vector>

#include "minisched/apiserver/faults/faults.h"
#include "minisched/apiserver/object.h"

namespace minisched::apiserver {

// The faults of a document, each with its own source of chance. Throws
// ParseError: the path to what is wrong, ": ", and what is.
std::vector<Fault> ParseFaults(const Json& document);

}  // namespace minisched::apiserver
