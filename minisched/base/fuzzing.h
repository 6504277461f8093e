// Helpers for fuzz targets (x_fuzz.cc). A fuzz target is a function that
// libFuzzer calls with many inputs, to find inputs that crash the code or
// violate a property of the code.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace minisched {

// Returns the input of a fuzz target as text.
inline std::string_view InputText(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Aborts the program unless the property holds. libFuzzer then reports the
// input as a finding. `detail` is the text that violates the property.
inline void Require(bool holds, const char* property,
                    const std::string& detail = "") {
  if (holds) return;
  std::fprintf(stderr, "property violated: %s: %s\n", property, detail.c_str());
  std::abort();
}

// Removes the first line from `text` and returns it without its newline.
inline std::string_view TakeLine(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(line.size() < text.size() ? line.size() + 1 : line.size());
  return line;
}

// Splits a line at each space. A word may be empty.
inline std::vector<std::string> SplitWords(std::string_view line) {
  std::vector<std::string> words;
  while (true) {
    const std::size_t end = line.find(' ');
    words.emplace_back(line.substr(0, end));
    if (end == line.npos) return words;
    line.remove_prefix(end + 1);
  }
}

}  // namespace minisched
