#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "minisched/apiserver/faults.h"
#include "minisched/apiserver/object.h"

namespace minisched::apiserver {

// What Faults reads its document with. All throw ParseError: the path to what
// is wrong, ": ", and what is.

// Refuses what is no object of (some of) those fields.
void CheckFaultFields(const Json& value, const std::string& path,
                      std::initializer_list<const char*> fields);
// The member as a number without a sign, of at least `min`.
std::uint64_t ParseFaultCount(const Json& object, const std::string& path,
                              const std::string& key, std::uint64_t min);
// One of the document's `faults`; `path` is "faults[0]".
Fault ParseFault(const Json& value, const std::string& path);

}  // namespace minisched::apiserver
