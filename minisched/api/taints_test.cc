#include "minisched/api/taints.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>

namespace minisched {
namespace {

struct Case {
  const char* name;
  Toleration toleration;
  Taint taint;
  bool tolerated;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}

class ToleratesTaintTest : public ::testing::TestWithParam<Case> {};

TEST_P(ToleratesTaintTest, MatchesUpstream) {
  EXPECT_EQ(ToleratesTaint(GetParam().toleration, GetParam().taint),
            GetParam().tolerated);
}

const Taint kDb{.key = "for", .value = "db", .effect = "NoSchedule"};

INSTANTIATE_TEST_SUITE_P(
    Cases, ToleratesTaintTest,
    ::testing::Values(
        Case{"Same",
             {.key = "for",
              .operation = "Equal",
              .value = "db",
              .effect = "NoSchedule"},
             kDb,
             true},
        Case{"NoOperatorIsEqual",
             {.key = "for", .value = "db", .effect = "NoSchedule"},
             kDb,
             true},
        Case{"OtherValue",
             {.key = "for", .operation = "Equal", .value = "web"},
             kDb,
             false},
        Case{"NoValueIsAnotherValue",
             {.key = "for", .operation = "Equal"},
             kDb,
             false},
        Case{"NoValueOnEitherSide",
             {.key = "for", .operation = "Equal"},
             {.key = "for", .effect = "NoExecute"},
             true},
        Case{"ExistsHasNoValue",
             {.key = "for", .operation = "Exists", .value = "web"},
             kDb,
             true},
        Case{"OtherKey", {.key = "fur", .operation = "Exists"}, kDb, false},
        Case{"NoKeyWithExistsIsAll", {.operation = "Exists"}, kDb, true},
        Case{"NoKeyWithEqualStillHasAValue",
             {.operation = "Equal", .value = "db"},
             kDb,
             true},
        Case{"NoEffectIsEveryEffect",
             {.key = "for", .operation = "Exists"},
             {.key = "for", .effect = "NoExecute"},
             true},
        Case{"OtherEffect",
             {.key = "for", .operation = "Exists", .effect = "NoExecute"},
             kDb,
             false},
        Case{"GreaterIsSwitchedOff",
             {.key = "level", .operation = "Gt", .value = "1"},
             {.key = "level", .value = "2", .effect = "NoSchedule"},
             false},
        Case{"UnknownOperator",
             {.key = "for", .operation = "Like", .value = "db"},
             kDb,
             false}),
    [](const auto& param) { return std::string(param.param.name); });

TEST(TolerationsTolerateTaintTest, OneMatchingTolerationIsEnough) {
  EXPECT_FALSE(TolerationsTolerateTaint({}, kDb));
  EXPECT_TRUE(TolerationsTolerateTaint(
      {{.key = "fur", .operation = "Exists"}, {.operation = "Exists"}}, kDb));
}

TEST(HasUntoleratedTaintTest, OnlyNoScheduleAndNoExecuteCount) {
  Node node;
  Pod pod;
  EXPECT_FALSE(HasUntoleratedTaint(node, pod));
  node.spec.taints = {{.key = "a", .effect = "PreferNoSchedule"}};
  EXPECT_FALSE(HasUntoleratedTaint(node, pod));
  node.spec.taints.push_back({.key = "b", .effect = "NoSchedule"});
  EXPECT_TRUE(HasUntoleratedTaint(node, pod));
  node.spec.taints[1].effect = "NoExecute";
  EXPECT_TRUE(HasUntoleratedTaint(node, pod));
}

TEST(HasUntoleratedTaintTest, AllTaintsMustBeTolerated) {
  Node node;
  node.spec.taints = {{.key = "a", .effect = "NoSchedule"},
                      {.key = "b", .effect = "NoExecute"}};
  Pod pod;
  pod.spec.tolerations = {{.key = "a", .operation = "Exists"}};
  EXPECT_TRUE(HasUntoleratedTaint(node, pod));
  pod.spec.tolerations.push_back({.key = "b", .operation = "Exists"});
  EXPECT_FALSE(HasUntoleratedTaint(node, pod));
}

}  // namespace
}  // namespace minisched
