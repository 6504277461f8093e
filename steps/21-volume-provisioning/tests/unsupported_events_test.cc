// Tests which events wake a pod with unsupported requirements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/default_framework_testing.h"
#include "tests/hints_testing.h"

namespace minisched {
namespace {

TEST(UnsupportedEventsTest, NoEventHelps) {
  EXPECT_THAT(EventsOf(NewDefaultFramework(), "Unsupported"),
              ::testing::IsEmpty());
}

}  // namespace
}  // namespace minisched
