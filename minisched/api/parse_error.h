// The exception of minisched/api for malformed text and JSON.

#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace minisched {

// what() describes the problem and, where it can, quotes the malformed text.
class ParseError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Returns text in double quotes for an error message, cut off with "..." after
// 64 bytes. Everything but printable ASCII is escaped, because the text may
// come from anywhere and the message may go into a log or into JSON.
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

// Returns a list of such texts: ["a","b"].
inline std::string Quoted(const std::vector<std::string>& texts) {
  std::string quoted;
  for (const std::string& text : texts) {
    quoted += (quoted.empty() ? "" : ",") + Quoted(text);
  }
  return "[" + quoted + "]";
}

}  // namespace minisched
