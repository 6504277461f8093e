#include "minisched/trace/shared_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SharedListTest, CopiesShareTheElements) {
  const SharedList<int> list = {1, 2, 3};
  const SharedList<int> copy = list;
  EXPECT_THAT(copy.get(), ElementsAre(1, 2, 3));
  EXPECT_EQ(&copy[0], &list[0]);
}

TEST(SharedListTest, TakesTheElementsOfAVector) {
  std::vector<int> values = {1, 2};
  const int* first = &values[0];
  const SharedList<int> list = std::move(values);
  EXPECT_THAT(list.get(), ElementsAre(1, 2));
  EXPECT_EQ(&list[0], first);
}

TEST(SharedListTest, IsEmptyAtFirst) {
  const SharedList<int> list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.size(), 0U);
  EXPECT_THAT(list.get(), IsEmpty());
}

}  // namespace
}  // namespace minisched
