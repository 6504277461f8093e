#include "minisched/api/resource_version.h"

#include <gtest/gtest.h>

namespace minisched {
namespace {

bool IsOlder(const std::string& a, const std::string& b) {
  return IsOlderVersion({.resource_version = a}, {.resource_version = b});
}

TEST(ResourceVersionTest, ComparesNumbers) {
  EXPECT_TRUE(IsOlder("9", "10"));
  EXPECT_TRUE(IsOlder("10", "11"));
  EXPECT_FALSE(IsOlder("11", "10"));
  EXPECT_FALSE(IsOlder("10", "9"));
  EXPECT_FALSE(IsOlder("10", "10"));
  EXPECT_TRUE(IsOlder("18446744073709551615", "18446744073709551616"));
}

}  // namespace
}  // namespace minisched
