#include "minisched/config/suggest.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>
#include <vector>

namespace minisched {
namespace {

// Returns how many letters must be inserted, deleted or replaced to turn one
// name into the other, in any case.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  const auto lower = [](char c) {
    return std::tolower(static_cast<unsigned char>(c));
  };
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (lower(a[i]) != lower(b[j]));
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string Suggest(std::string_view name,
                    const std::set<std::string, std::less<>>& candidates) {
  constexpr std::size_t kMaxLength = 64;
  if (name.empty() || name.size() > kMaxLength) return "";
  std::size_t nearest = std::max<std::size_t>(2, name.size() / 3);
  std::string_view suggested;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = EditDistance(name, candidate);
    // A name of three letters is not near to every other one.
    if (distance > nearest || distance >= candidate.size()) continue;
    if (distance == nearest && !suggested.empty()) continue;
    nearest = distance;
    suggested = candidate;
  }
  if (suggested.empty()) return "";
  return ", did you mean \"" + std::string(suggested) + "\"?";
}

}  // namespace minisched
