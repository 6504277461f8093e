#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace minisched {

// FromJson() of json.h for callers that hold parsed JSON. Throws ParseError.
template <class T>
T FromDocument(const nlohmann::json& document);

// Returns the document as YAML in block style, with sorted keys, as kubectl
// prints it. YamlToJson() of yaml.h returns the same document.
std::string ToYaml(const nlohmann::json& document);

}  // namespace minisched
