#include "minisched/api/conditions.h"

#include <gtest/gtest.h>

namespace minisched {
namespace {

using namespace std::chrono_literals;

const Time kThen = ParseTime("2026-11-21T10:00:00Z");
const Time kNow = kThen + 1h;

Condition Scheduled(const char* status, const char* message) {
  return {.type = "PodScheduled", .status = status, .message = message};
}

TEST(ConditionsTest, AddsANewCondition) {
  std::vector<Condition> conditions = {{.type = "Ready", .status = "True"}};
  EXPECT_EQ(FindCondition(conditions, "PodScheduled"), nullptr);
  EXPECT_TRUE(UpdateCondition(conditions, Scheduled("False", "full"), kNow));
  ASSERT_EQ(conditions.size(), 2U);
  EXPECT_EQ(FindCondition(conditions, "PodScheduled")->message, "full");
  EXPECT_EQ(conditions[1].last_transition_time, kNow);
}

TEST(ConditionsTest, TransitionTimeChangesWithTheStatus) {
  std::vector<Condition> conditions;
  UpdateCondition(conditions, Scheduled("False", "full"), kThen);
  EXPECT_FALSE(UpdateCondition(conditions, Scheduled("False", "full"), kNow));
  EXPECT_TRUE(UpdateCondition(conditions, Scheduled("False", "empty"), kNow));
  ASSERT_EQ(conditions.size(), 1U);
  EXPECT_EQ(conditions[0].last_transition_time, kThen);
  EXPECT_EQ(conditions[0].message, "empty");
  EXPECT_TRUE(UpdateCondition(conditions, Scheduled("True", "empty"), kNow));
  EXPECT_EQ(conditions[0].last_transition_time, kNow);
}

}  // namespace
}  // namespace minisched
