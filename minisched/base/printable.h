#pragma once

#include <string>
#include <string_view>

namespace minisched {

// Returns the text with control characters and broken UTF-8 escaped, so that
// text from objects can't break a table or send codes to a terminal.
std::string Printable(std::string_view text);

}  // namespace minisched
