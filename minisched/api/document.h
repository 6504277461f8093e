#pragma once

#include <nlohmann/json_fwd.hpp>

namespace minisched {

// FromJson() of json.h for who has a JSON document already, of which it needs
// no text. Throws ParseError.
template <class T>
T FromDocument(const nlohmann::json& document);

}  // namespace minisched
