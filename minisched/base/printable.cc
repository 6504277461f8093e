#include "minisched/base/printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace minisched {

std::string Printable(std::string_view text) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~'; };
  std::string printable;
  while (!text.empty()) {
    const auto rest = std::find_if_not(text.begin(), text.end(), is_plain);
    const auto next = std::find_if(rest, text.end(), is_plain);
    printable.append(text.begin(), rest);
    // fmt would also escape quotes and backslashes, which are plain.
    const std::string quoted =
        fmt::format("{:?}", std::string_view(rest, next));
    printable.append(quoted, 1, quoted.size() - 2);
    text = {next, text.end()};
  }
  return printable;
}

}  // namespace minisched
