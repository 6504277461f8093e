#include "lab/apiserver/warnings.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "lab/apiserver/object.h"

namespace minisched::apiserver {
namespace {

// Limits, in characters.
constexpr std::size_t kMaxTotal = 4096;
constexpr std::size_t kMaxText = 256;

// True if this byte begins a UTF-8 character.
bool IsFirst(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
}

std::size_t CountCharacters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), IsFirst));
}

std::string Cut(const std::string& text) {
  std::size_t characters = 0;
  const auto end = std::find_if(text.begin(), text.end(), [&](char byte) {
    return IsFirst(byte) && ++characters > kMaxText;
  });
  return {text.begin(), end};
}

// True if `text` can be sent in a header: it is not empty and has no control
// characters.
bool FitsHeader(const std::string& text) {
  return !text.empty() && std::none_of(text.begin(), text.end(), [](char byte) {
    return (0 <= byte && byte < ' ') || byte == '\x7f';
  });
}

}  // namespace

void AddWarnings(const std::vector<std::string>& texts, Reply& reply) {
  std::set<std::string_view> distinct;
  std::vector<std::string> warnings;
  std::size_t total = 0;
  for (const std::string& text : texts) {
    if (!FitsHeader(text) || !distinct.insert(text).second) continue;
    warnings.push_back(text);
    total += CountCharacters(text);
  }
  const bool cut = total > kMaxTotal;
  total = 0;
  for (const std::string& warning : warnings) {
    if (total >= kMaxTotal) return;
    const std::string text = cut ? Cut(warning) : warning;
    total += CountCharacters(text);
    reply.headers.emplace_back("Warning", "299 - " + Dump(text));
  }
}

}  // namespace minisched::apiserver
