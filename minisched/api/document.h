#pragma once

#include <nlohmann/json_fwd.hpp>

namespace minisched {

// FromJson() of json.h for callers that hold parsed JSON. Throws ParseError.
template <class T>
T FromDocument(const nlohmann::json& document);

}  // namespace minisched
