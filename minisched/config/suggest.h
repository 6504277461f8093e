#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace minisched {

// Returns `, did you mean "score"?` with the candidate that is nearest to
// `name`; "" if none is near.
std::string Suggest(std::string_view name,
                    const std::set<std::string, std::less<>>& candidates);

}  // namespace minisched
