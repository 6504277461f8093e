// The first cases are those of upstream's helper/spread_test.go.
#include "plugins/default_selector.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/informers_testing.h"
#include "tests/spread_testing.h"

namespace minisched {
namespace {

Service NewService(const std::string& name, const std::string& selector,
                   const std::string& ns = "test") {
  Service service;
  service.metadata.namespace_name = ns;
  service.metadata.name = name;
  service.spec.selector = ParseLabels(selector);
  return service;
}

// Returns a workload with these labels as its selector.
template <class T>
T NewWorkload(const std::string& name, const std::string& selector,
              const std::string& ns = "test") {
  T workload;
  workload.metadata.namespace_name = ns;
  workload.metadata.name = name;
  if constexpr (requires { workload.spec.selector.match_labels; }) {
    workload.spec.selector.match_labels = ParseLabels(selector);
  } else {
    workload.spec.selector = ParseLabels(selector);
  }
  return workload;
}

Pod NewLabelledPod(const std::string& labels) {
  Pod pod;
  pod.metadata.namespace_name = "test";
  pod.metadata.labels = ParseLabels(labels);
  return pod;
}

// Returns the text of the selector for a pod with the label pod=a and this
// controller.
template <class... T>
std::string SelectorFor(const std::string& api_version, const std::string& kind,
                        const std::string& name, const T&... objects) {
  InformersOf informers(objects...);
  Pod pod = NewLabelledPod("pod=a");
  if (!kind.empty()) {
    pod.metadata.owner_references = {
        {.api_version = "v1", .kind = "Node", .name = "other"},
        {.api_version = api_version,
         .kind = kind,
         .name = name,
         .controller = true}};
  }
  return DefaultSelector(pod, informers.Get()).ToString();
}

TEST(DefaultSelectorTest, DefaultCase) {
  EXPECT_EQ(SelectorFor("", "", ""), "");
}

TEST(DefaultSelectorTest, NoOwnerReferencePodCase) {
  EXPECT_EQ(SelectorFor("", "", "", NewService("s", "pod=a")), "pod=a");
}

TEST(DefaultSelectorTest, ReplicaSetOwnerReferencePodCase) {
  EXPECT_EQ(SelectorFor("apps/v1", "ReplicaSet", "o", NewService("s", "pod=a"),
                        NewWorkload<ReplicaSet>("o", "set=b")),
            "pod=a,set in (b)");
}

TEST(DefaultSelectorTest, ReplicationControllerOwnerReferencePodCase) {
  EXPECT_EQ(
      SelectorFor("v1", "ReplicationController", "o", NewService("s", "pod=a"),
                  NewWorkload<ReplicationController>("o", "rc=b")),
      "pod=a,rc=b");
}

TEST(DefaultSelectorTest, StatefulSetOwnerReferencePodCase) {
  EXPECT_EQ(SelectorFor("apps/v1", "StatefulSet", "o", NewService("s", "pod=a"),
                        NewWorkload<StatefulSet>("o", "set=b")),
            "pod=a,set in (b)");
}

TEST(DefaultSelectorTest, OnlyServicesThatSelectThePodCount) {
  InformersOf informers(NewService("one", "pod=a"), NewService("two", "tier=x"),
                        NewService("more", "pod=a,no=x"),
                        NewService("value", "pod=b"), NewService("none", ""),
                        NewService("elsewhere", "rev=1", "other"));
  EXPECT_EQ(
      DefaultSelector(NewLabelledPod("pod=a,tier=x,rev=1"), informers.Get())
          .ToString(),
      "pod=a,tier=x");
}

TEST(DefaultSelectorTest, TheKindOfTheControllerMustBeExact) {
  const auto set = NewWorkload<ReplicaSet>("o", "set=b");
  EXPECT_EQ(SelectorFor("apps/v1", "ReplicaSet", "o", set), "set in (b)");
  EXPECT_EQ(SelectorFor("apps/v2", "ReplicaSet", "o", set), "");
  EXPECT_EQ(SelectorFor("batch/v1", "Job", "o", set), "");
  EXPECT_EQ(SelectorFor("apps/v1", "StatefulSet", "o", set), "");
}

TEST(DefaultSelectorTest, TheControllerMustExistInThePodsNamespace) {
  EXPECT_EQ(SelectorFor("apps/v1", "ReplicaSet", "o",
                        NewWorkload<ReplicaSet>("p", "set=b"),
                        NewWorkload<ReplicaSet>("o", "set=b", "other")),
            "");
}

TEST(DefaultSelectorTest, OwnersThatAreNoControllersDoNotCount) {
  InformersOf informers(NewWorkload<ReplicaSet>("o", "set=b"));
  Pod pod = NewLabelledPod("pod=a");
  pod.metadata.owner_references = {
      {.api_version = "apps/v1", .kind = "ReplicaSet", .name = "o"}};
  EXPECT_TRUE(DefaultSelector(pod, informers.Get()).Empty());
}

TEST(DefaultSelectorTest, AReplicationControllerReplacesLabelsOfServices) {
  EXPECT_EQ(
      SelectorFor("v1", "ReplicationController", "o", NewService("s", "pod=a"),
                  NewWorkload<ReplicationController>("o", "pod=b")),
      "pod=b");
}

TEST(DefaultSelectorTest, AReplicaSetNarrowsTheLabelsOfServices) {
  InformersOf informers(NewService("s", "pod=a"),
                        NewWorkload<ReplicaSet>("o", "pod=b"));
  Pod pod = NewLabelledPod("pod=a");
  pod.metadata.owner_references = {{.api_version = "apps/v1",
                                    .kind = "ReplicaSet",
                                    .name = "o",
                                    .controller = true}};
  const Selector selector = DefaultSelector(pod, informers.Get());
  EXPECT_FALSE(selector.Matches({{"pod", "a"}}));
  EXPECT_FALSE(selector.Matches({{"pod", "b"}}));
}

TEST(DefaultSelectorTest, TheExpressionsOfAReplicaSetCount) {
  auto set = NewWorkload<ReplicaSet>("o", "set=b");
  set.spec.selector.match_expressions = {{"tier", "Exists", {}}};
  EXPECT_EQ(SelectorFor("apps/v1", "ReplicaSet", "o", set), "set in (b),tier");
  set.spec.selector.match_expressions = {{"tier", "In", {}}};
  EXPECT_EQ(
      SelectorFor("apps/v1", "ReplicaSet", "o", set, NewService("s", "pod=a")),
      "pod=a")
      << "a malformed selector is left out";
}

}  // namespace
}  // namespace minisched
