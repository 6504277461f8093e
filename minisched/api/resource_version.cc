#include "minisched/api/resource_version.h"

#include <string>

namespace minisched {

bool IsOlderVersion(const ObjectMeta& a, const ObjectMeta& b) {
  const std::string& x = a.resource_version;
  const std::string& y = b.resource_version;
  // They have no leading zeros.
  return x.size() == y.size() ? x < y : x.size() < y.size();
}

}  // namespace minisched
