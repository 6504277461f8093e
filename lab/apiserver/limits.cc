#include "lab/apiserver/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "lab/apiserver/errors.h"

namespace minisched::apiserver {
namespace {

// The bytes around a value: a comma or colon, and quotes.
constexpr std::size_t kBytesOfValue = 3;

// Adds the size of `value`, which is nested `outer` levels deep, to `extent`.
void Add(const Json& value, std::size_t outer, Extent& extent) {
  extent.nesting = std::max(extent.nesting, outer);
  extent.bytes += kBytesOfValue;
  ++extent.values;
  if (outer > kMaxNesting || extent.values > kMaxValues) return;
  if (value.is_string()) {
    extent.bytes += value.get_ref<const std::string&>().size();
  } else if (value.is_array()) {
    for (const Json& element : value) Add(element, outer + 1, extent);
  } else if (value.is_object()) {
    for (auto member = value.begin(); member != value.end(); ++member) {
      extent.bytes += member.key().size() + kBytesOfValue;
      Add(*member, outer + 1, extent);
    }
  }
}

StatusError TooLarge(const std::string& why) {
  return {413, "RequestEntityTooLarge", "Request entity too large: " + why};
}

}  // namespace

Extent Extent::Of(const Json& document) {
  Extent extent;
  Add(document, 0, extent);
  return extent;
}

void CheckLimits(const Json& document) {
  const Extent extent = Extent::Of(document);
  if (extent.nesting > kMaxNesting) {
    throw BadRequest(fmt::format(
        "the object is nested more than {} levels deep", kMaxNesting));
  }
  if (extent.values > kMaxValues) {
    throw TooLarge(fmt::format("an object has at most {} values", kMaxValues));
  }
  if (extent.bytes > kMaxBytes) {
    throw TooLarge(fmt::format("an object has at most {} bytes", kMaxBytes));
  }
}

void Effort::Spend(std::size_t steps) {
  if (steps > left_) {
    throw TooLarge(
        "the patch copies, moves or merges too much data: send it in parts");
  }
  left_ -= steps;
}

void Effort::Spend(const Extent& extent) {
  constexpr std::size_t kStepsOfValue = 16;
  const bool measured =
      extent.values <= kMaxValues && extent.bytes <= kMaxBytes;
  Spend(measured ? extent.bytes + extent.values * kStepsOfValue
                 : std::numeric_limits<std::size_t>::max());
}

}  // namespace minisched::apiserver
