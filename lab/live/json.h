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

// Returns the text at a path such as "/metadata/name", or "".
inline std::string TextAt(const Json& object, const char* path) {
  const Json::json_pointer pointer(path);
  if (!object.contains(pointer)) return "";
  const Json& text = object.at(pointer);
  return text.is_string() ? text.get<std::string>() : "";
}

}  // namespace minisched::live
