#pragma once

#include <cstddef>

#include "minisched/apiserver/object.h"

namespace minisched::apiserver {

// What keeps one request from holding up all others, as there is one thread:
// documents are bounded, and what the server does to a document takes time in
// proportion to its size. Patches, which could do something for each pair of
// values, have an Effort besides.

// The longest body of a request, and the longest object that is stored. Etcd,
// which has objects in a shorter form, takes half of that.
inline constexpr std::size_t kMaxBytes = 3 << 20;
// Strings, numbers, lists and so on in one document, however deep.
inline constexpr std::size_t kMaxValues = 100'000;
inline constexpr std::size_t kMaxNesting = 200;

// How large a document is. Nothing beyond a limit is counted.
struct Extent {
  std::size_t bytes = 0;  // about what it has as JSON
  std::size_t values = 0;
  std::size_t nesting = 0;

  // At most as deep a recursion as the nesting that is allowed.
  static Extent Of(const Json& document);
};

// Throws StatusError if the document is beyond a limit: 400 for its nesting,
// 413 for its size.
void CheckLimits(const Json& document);

// What a patch may spend. Throws StatusError (413) when that is used up.
class Effort {
 public:
  // `steps` are bytes copied, or list elements moved.
  void Spend(std::size_t steps);
  // As many steps as a copy of it takes.
  void Spend(const Extent& extent) {
    Spend(extent.bytes + extent.values * kStepsOfValue);
  }

 private:
  static constexpr std::size_t kStepsOfValue = 16;
  std::size_t left_ = std::size_t{32} << 20;
};

}  // namespace minisched::apiserver
