#pragma once

#include <cstddef>

#include "lab/apiserver/object.h"

namespace minisched::apiserver {

// Limits on the cost of one request. The server has one thread, so an expensive
// request blocks all others. So the size of documents is limited, and the work
// on a document is proportional to its size. JSON patches and strategic merge
// patches can cause more work than that, so each of them also has an Effort.

// The largest request body, and the largest stored object. etcd accepts half of
// this by default, in a shorter encoding.
inline constexpr std::size_t kMaxBytes = 3 << 20;
// The number of strings, numbers, lists and so on in one document, at any
// depth.
inline constexpr std::size_t kMaxValues = 100'000;
inline constexpr std::size_t kMaxNesting = 200;
// The number of terms in one selector of a list or watch. Each object of the
// resource is compared with each term.
inline constexpr std::size_t kMaxTerms = 1000;

// The size of a document.
struct Extent {
  std::size_t bytes = 0;  // approximate length of the JSON text
  std::size_t values = 0;
  std::size_t nesting = 0;

  // Measures a document. Does not measure the parts inside a value that is
  // nested deeper than kMaxNesting or comes after kMaxValues values. So the
  // result is too small for a document beyond one of these limits.
  static Extent Of(const Json& document);
};

// Throws StatusError if the document is beyond a limit: 400 for its nesting,
// 413 for its size.
void CheckLimits(const Json& document);

// The work that one patch may still cause. Spend() throws StatusError (413) if
// the patch needs more.
class Effort {
 public:
  // Spends `steps`: the number of bytes copied or list elements moved.
  void Spend(std::size_t steps);
  // Spends the steps for copying or reading a document of this extent. Throws
  // if the document has more than kMaxValues values or kMaxBytes bytes.
  void Spend(const Extent& extent);

 private:
  std::size_t left_ = std::size_t{32} << 20;
};

}  // namespace minisched::apiserver
