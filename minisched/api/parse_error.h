// What everything in minisched/api throws when text or JSON is malformed.

#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace minisched {

// what() says what is wrong, and quotes the text that is.
class ParseError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Text as an error message quotes it: in double quotes, escaped, and cut off
// with "..." after 64 bytes. The text may come from anywhere and the message
// may go into a log or into JSON, so what is not printable ASCII is escaped.
inline std::string Quoted(std::string_view text) {
  constexpr std::string_view kHexDigits = "0123456789abcdef";
  constexpr size_t kMaxBytes = 64;
  std::string quoted = "\"";
  for (const char c : text.substr(0, kMaxBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (byte < 0x20 || byte > 0x7e) {
      quoted += {'\\', 'x', kHexDigits[byte >> 4], kHexDigits[byte & 0xf]};
    } else {
      quoted += c;
    }
  }
  if (text.size() > kMaxBytes) quoted += "...";
  return quoted + "\"";
}

}  // namespace minisched
