#pragma once

#include <cstddef>

#include "lab/apiserver/object.h"

namespace minisched::apiserver {

// Limits on the cost of one request. The server has one thread, so an expensive
// request blocks all others. Documents are bounded, and the work on a document
// is proportional to its size. A patch could work on every pair of values, so
// each patch also has an Effort.

// The largest request body, and the largest stored object. etcd accepts half of
// this by default, in a shorter encoding.
inline constexpr std::size_t kMaxBytes = 3 << 20;
// The number of strings, numbers, lists and so on in one document, at any
// depth.
inline constexpr std::size_t kMaxValues = 100'000;
inline constexpr std::size_t kMaxNesting = 200;

// The size of a document. Counting stops at a limit.
struct Extent {
  std::size_t bytes = 0;  // approximate length of the JSON text
  std::size_t values = 0;
  std::size_t nesting = 0;

  // Measures a document. Recurses at most kMaxNesting levels.
  static Extent Of(const Json& document);
};

// Throws StatusError if the document is beyond a limit: 400 for its nesting,
// 413 for its size.
void CheckLimits(const Json& document);

// The budget of one patch. Spend() throws StatusError (413) when it is used up.
class Effort {
 public:
  // `steps` are bytes copied, or list elements moved.
  void Spend(std::size_t steps);
  // Spends the steps of a copy. Throws if the extent is beyond a limit, because
  // its true size is then unknown.
  void Spend(const Extent& extent);

 private:
  std::size_t left_ = std::size_t{32} << 20;
};

}  // namespace minisched::apiserver
