#include "minisched/api/pod_preemption.h"

#include <gtest/gtest.h>

namespace minisched {
namespace {

TEST(PodPreemptionTest, TheDefaultPriorityIsZero) {
  Pod pod;
  EXPECT_EQ(PodPriority(pod), 0);
  pod.spec.priority = -5;
  EXPECT_EQ(PodPriority(pod), -5);
}

TEST(PodPreemptionTest, APodThatHasNotStartedIsTheLast) {
  Pod pod;
  EXPECT_EQ(PodStartTime(pod), Time::max());
  pod.status.start_time = Time(std::chrono::seconds(7));
  EXPECT_EQ(PodStartTime(pod), Time(std::chrono::seconds(7)));
}

TEST(PodPreemptionTest, TheConditionSaysWhyThePodIsEvicted) {
  Pod pod;
  pod.metadata.generation = 3;
  const Condition condition = PreemptionCondition(pod, "minisched");
  EXPECT_EQ(condition.type, "DisruptionTarget");
  EXPECT_EQ(condition.status, "True");
  EXPECT_EQ(condition.reason, "PreemptionByScheduler");
  EXPECT_EQ(condition.message,
            "minisched: preempting to accommodate a higher priority pod");
  EXPECT_EQ(condition.observed_generation, 3);
}

TEST(PodPreemptionTest, APodIsTerminatingByPreemptionIfItIsAlsoDeleted) {
  Pod pod;
  pod.status.conditions = {PreemptionCondition(pod, "minisched")};
  EXPECT_FALSE(PodTerminatingByPreemption(pod));
  pod.metadata.deletion_timestamp = Time();
  EXPECT_TRUE(PodTerminatingByPreemption(pod));

  Condition& condition = pod.status.conditions.front();
  condition.status = "False";
  EXPECT_FALSE(PodTerminatingByPreemption(pod));
  condition.status = "True";
  condition.reason = "EvictionByEvictionAPI";
  EXPECT_FALSE(PodTerminatingByPreemption(pod));
  pod.status.conditions.clear();
  EXPECT_FALSE(PodTerminatingByPreemption(pod));
}

}  // namespace
}  // namespace minisched
