#include "minisched/api/disruption_budgets.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "minisched/api/json.h"

namespace minisched {
namespace {

std::shared_ptr<const PodDisruptionBudget> Budget(const std::string& selector,
                                                  int allowed) {
  return std::make_shared<const PodDisruptionBudget>(
      FromJson<PodDisruptionBudget>(
          R"({"metadata":{"namespace":"shop"},"spec":{"selector":)" + selector +
          R"(},"status":{"disruptionsAllowed":)" + std::to_string(allowed) +
          R"(,"disruptedPods":{"web-9":"2026-11-21T10:00:00Z"}}})"));
}

// Returns the budgets of the namespace "shop". Other namespaces have none.
DisruptionBudgets BudgetsOf(
    std::vector<std::shared_ptr<const PodDisruptionBudget>> budgets) {
  return DisruptionBudgets([budgets](const std::string& name) {
    return name == "shop" ? budgets : decltype(budgets)();
  });
}

Pod NewPod(const std::string& name, const Labels& labels = {{"app", "web"}}) {
  Pod pod;
  pod.metadata.namespace_name = "shop";
  pod.metadata.name = name;
  pod.metadata.labels = labels;
  return pod;
}

constexpr char kWeb[] = R"({"matchLabels":{"app":"web"}})";
constexpr char kAll[] =
    R"({"matchExpressions":[{"key":"app","operator":"Exists"}]})";

TEST(DisruptionBudgetsTest, AllowsAsManyRemovalsAsTheBudget) {
  DisruptionBudgets budgets = BudgetsOf({Budget(kWeb, 2)});
  DisruptionBudgets copy = budgets;
  EXPECT_TRUE(budgets.Take(NewPod("web-1")));
  EXPECT_TRUE(budgets.Take(NewPod("web-2")));
  EXPECT_FALSE(budgets.Take(NewPod("web-3")));
  EXPECT_TRUE(copy.Take(NewPod("web-3"))) << "a copy counts on its own";
}

TEST(DisruptionBudgetsTest, CountsOnlyThePodsOfTheBudget) {
  DisruptionBudgets budgets = BudgetsOf({Budget(kWeb, 0)});
  EXPECT_TRUE(budgets.Take(NewPod("db", {{"app", "db"}})));
  EXPECT_TRUE(budgets.Take(NewPod("bare", {})));
  Pod elsewhere = NewPod("web-1");
  elsewhere.metadata.namespace_name = "other";
  EXPECT_TRUE(budgets.Take(elsewhere));
  EXPECT_FALSE(budgets.Take(NewPod("web-1")));
}

TEST(DisruptionBudgetsTest, DoesNotCountDisruptedPodsAgain) {
  DisruptionBudgets budgets = BudgetsOf({Budget(kWeb, 0)});
  EXPECT_TRUE(budgets.Take(NewPod("web-9")));
}

TEST(DisruptionBudgetsTest, IgnoresBudgetsWithoutAUsefulSelector) {
  DisruptionBudgets budgets = BudgetsOf(
      {Budget("null", 0), Budget("{}", 0),
       Budget(R"({"matchExpressions":[{"key":"a","operator":"Near"}]})", 0)});
  EXPECT_TRUE(budgets.Take(NewPod("web-1")));
  EXPECT_TRUE(DisruptionBudgets().Take(NewPod("web-1")));
}

TEST(DisruptionBudgetsTest, ReadsEachNamespaceOnceWhenItIsNeeded) {
  std::string read;
  DisruptionBudgets budgets([&](const std::string& name) {
    read += name + " ";
    return std::vector{Budget(kWeb, 0)};
  });
  DisruptionBudgets copy = budgets;
  EXPECT_EQ(read, "");
  EXPECT_FALSE(budgets.Take(NewPod("web-1")));
  EXPECT_FALSE(copy.Take(NewPod("web-1")));
  Pod elsewhere = NewPod("web-1");
  elsewhere.metadata.namespace_name = "other";
  EXPECT_FALSE(copy.Take(elsewhere));
  EXPECT_EQ(read, "shop other ");
}

TEST(DisruptionBudgetsTest, CountsAgainstEachBudgetOfThePod) {
  DisruptionBudgets budgets = BudgetsOf({Budget(kWeb, 0), Budget(kWeb, 1)});
  EXPECT_FALSE(budgets.Take(NewPod("web-1")));
  DisruptionBudgets second = BudgetsOf({Budget(kWeb, 1), Budget(kWeb, 2)});
  EXPECT_TRUE(second.Take(NewPod("web-1")));
  EXPECT_FALSE(second.Take(NewPod("web-2")));
}

TEST(DisruptionBudgetsTest, StopsAtTheFirstBudgetThatIsViolated) {
  DisruptionBudgets budgets = BudgetsOf({Budget(kWeb, 0), Budget(kAll, 1)});
  EXPECT_FALSE(budgets.Take(NewPod("web-1")));
  EXPECT_TRUE(budgets.Take(NewPod("db", {{"app", "db"}})))
      << "web-1 doesn't count against the second budget";
}

// A pod without labels has no budgets, although this selector would match.
TEST(DisruptionBudgetsTest, APodWithoutLabelsHasNoBudget) {
  DisruptionBudgets budgets = BudgetsOf({Budget(
      R"({"matchExpressions":[{"key":"a","operator":"DoesNotExist"}]})", 0)});
  EXPECT_TRUE(budgets.Take(NewPod("bare", {})));
  EXPECT_FALSE(budgets.Take(NewPod("web-1")));
}

}  // namespace
}  // namespace minisched
