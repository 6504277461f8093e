#pragma once

#include <nlohmann/json.hpp>
#include <string>

// For the .cc files of the live page: nlohmann's header is slow to compile.

namespace minisched::live {

using Json = nlohmann::json;

// Returns the value on one line, in ASCII: names and messages may contain
// anything, such as broken UTF-8 and control characters.
inline std::string Dump(const Json& json) {
  return json.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/true,
                   Json::error_handler_t::replace);
}

}  // namespace minisched::live
