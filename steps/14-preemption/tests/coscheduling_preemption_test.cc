// Tests PostFilter of the plugin Coscheduling.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

#include "tests/coscheduling_testing.h"

namespace minisched {
namespace {

constexpr char kMayPreempt[] = "Unschedulable";
constexpr char kMustNot[] =
    "UnschedulableAndUnresolvable: podGroup default/job has failed, so it "
    "preempts no pods []";

class CoschedulingPreemptionTest : public CoschedulingTest {
 protected:
  // Returns the status and, in brackets, the nominated node.
  std::string PostFilter(const std::string& name) {
    NominatingInfo nominating;
    const Status status =
        plugin_.PostFilter({}, *pods_.at(name), {}, nominating);
    const bool overrides = nominating.mode == NominatingInfo::Mode::kOverride;
    return Describe(status) +
           (overrides ? " [" + nominating.node_name + "]" : "");
  }
  void FailGroup() {
    PlaceWaiting({"a"});
    Advance(std::chrono::seconds(10));
    TakeEnds();
  }
};

TEST_F(CoschedulingPreemptionTest, AGroupMayPreemptUntilItFails) {
  CreateMembers(4);
  EXPECT_EQ(PostFilter("b"), kMayPreempt);
  FailGroup();
  EXPECT_EQ(PostFilter("b"), kMustNot);
  Advance(std::chrono::seconds(15));
  EXPECT_EQ(PostFilter("b"), kMustNot) << "also after the backoff";
}

TEST_F(CoschedulingPreemptionTest, AGroupThatWasCompleteMayPreemptAgain) {
  CreateMembers(4);
  FailGroup();
  Advance(std::chrono::seconds(15));
  PlaceWaiting({"a", "b", "c"});
  EXPECT_EQ(Place("d"), "Success");
  EXPECT_EQ(PostFilter("b"), kMayPreempt);
}

TEST_F(CoschedulingPreemptionTest, OtherPodsAndGroupsMayPreempt) {
  CreateMembers(4);
  Create("other", "second");
  Pod single = *pods_.at("a");
  single.metadata.uid = single.metadata.name = "single";
  single.metadata.labels.clear();
  Set(single);
  FailGroup();
  EXPECT_EQ(PostFilter("other"), kMayPreempt);
  EXPECT_EQ(PostFilter("single"), kMayPreempt);
}

TEST_F(CoschedulingPreemptionTest, AFailureIsForgottenWithTheGroup) {
  CreateMembers(4);
  FailGroup();
  for (const char* name : {"a", "b", "c", "d"}) groups_.Remove(*pods_.at(name));
  Advance(std::chrono::seconds(15));
  CreateMembers(4);
  EXPECT_EQ(PostFilter("b"), kMayPreempt);
}

}  // namespace
}  // namespace minisched
