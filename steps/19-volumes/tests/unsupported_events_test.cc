// Tests which events wake a pod that has unsupported requirements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/default_framework_testing.h"
#include "tests/hints_testing.h"

namespace minisched {
namespace {

TEST(UnsupportedEventsTest, AClaimThatIsBoundElsewhereWakesThePod) {
  EXPECT_THAT(
      EventsOf(NewDefaultFramework(), "Unsupported"),
      ::testing::ElementsAre("PersistentVolumeClaim/Add "
                             "PersistentVolumeClaim/Update with a hint"));
}

}  // namespace
}  // namespace minisched
