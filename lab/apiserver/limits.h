#pragma once

#include <cstddef>

#include "lab/apiserver/object.h"

namespace minisched::apiserver {

// Limits on what one request can cost. The server has one thread, so an
// expensive request blocks all others. Documents are bounded, and the work on a
// document is proportional to its size. Patches could work on every pair of
// values, so each patch also has an Effort.

// The longest body of a request, and the longest object that is stored. etcd
// accepts half of that by default, in a shorter encoding.
inline constexpr std::size_t kMaxBytes = 3 << 20;
// Strings, numbers, lists and so on in one document, however deep.
inline constexpr std::size_t kMaxValues = 100'000;
inline constexpr std::size_t kMaxNesting = 200;

// How large a document is. Nothing beyond a limit is counted.
struct Extent {
  std::size_t bytes = 0;  // about what it has as JSON
  std::size_t values = 0;
  std::size_t nesting = 0;

  // Measures the document. Recurses at most kMaxNesting levels.
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
  // As many steps as a copy takes. What is beyond a limit can't be copied: the
  // extent doesn't say how large it is.
  void Spend(const Extent& extent);

 private:
  std::size_t left_ = std::size_t{32} << 20;
};

}  // namespace minisched::apiserver
