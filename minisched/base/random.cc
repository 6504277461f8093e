#include "minisched/base/random.h"

namespace minisched {

std::mt19937_64& ThreadRandom() {
  thread_local std::mt19937_64 random{std::random_device{}()};
  return random;
}

}  // namespace minisched
