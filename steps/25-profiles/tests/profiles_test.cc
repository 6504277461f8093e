// Tests several profiles in one scheduler: what each has for itself, and what
// they share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "framework/profile.h"
#include "minisched/api/event.h"
#include "plugins/scheduling_gates.h"
#include "tests/running_scheduler_testing.h"
#include "tests/scheduling_queue_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

// A pod of the profile.
PodPtr PodOf(const std::string& scheduler_name, const std::string& name) {
  Pod pod = *MakePod(name);
  pod.spec.scheduler_name = scheduler_name;
  return std::make_shared<const Pod>(pod);
}

// A queue with the pods of two profiles.
class ProfilesQueueTest : public ::testing::Test {
 protected:
  ProfilesQueueTest() {
    for (const char* name : {"one", "two"}) {
      profiles_[name].framework = FrameworkWithPrioritySort();
    }
  }

  // Lets two pods wait that a plugin with this name has rejected.
  void RejectBoth(std::string_view plugin) {
    for (const char* name : {"one", "two"}) {
      queue_->Add(PodOf(name, name));
      QueuedPodInfo info = *queue_->Pop();
      info.unschedulable_plugins = {plugin};
      queue_->AddUnschedulableIfNotPresent(std::move(info));
    }
  }

  std::vector<std::string> Unschedulable() {
    std::vector<std::string> names;
    for (const auto& info : SchedulingQueuePeer::Read(*queue_).unschedulable) {
      names.push_back(info.pod->metadata.name);
    }
    return names;
  }

  // Makes the queue. Its lister has each pod with the profile of its name.
  void MakeQueue() {
    queue_.emplace(
        clock_, trace_, Frameworks(profiles_),
        [](const ObjectMeta& pod) { return PodOf(pod.name, pod.name); });
  }

  FakeClock clock_;
  Trace trace_{"minisched", clock_};
  Profiles profiles_;
  std::optional<SchedulingQueue> queue_;
};

TEST_F(ProfilesQueueTest, AHintMovesOnlyThePodsOfItsProfile) {
  profiles_["two"].framework.Add(std::make_unique<FakeFilter>(
      "Fit", std::vector<ClusterEventWithHint>{
                 {{EventResource::kNode, action::kAdd}}}));
  MakeQueue();
  RejectBoth("Fit");
  EXPECT_THAT(Unschedulable(), UnorderedElementsAre("one", "two"));
  queue_->MoveAllToActiveOrBackoffQueue(NodeAdded());
  EXPECT_THAT(Unschedulable(), ElementsAre("one"));
}

TEST_F(ProfilesQueueTest, OnlyThePreEnqueuePluginsOfItsProfileGateAPod) {
  profiles_["two"].framework.Add(std::make_unique<SchedulingGates>());
  MakeQueue();
  for (const char* name : {"one", "two"}) {
    Pod pod = *PodOf(name, name);
    pod.spec.scheduling_gates = {{"wait"}};
    queue_->Add(std::make_shared<const Pod>(pod));
  }
  const auto pods = SchedulingQueuePeer::Read(*queue_);
  ASSERT_EQ(pods.active.size(), 1);
  EXPECT_EQ(pods.active[0].pod->metadata.name, "one");
  ASSERT_EQ(pods.gated.size(), 1);
  EXPECT_EQ(pods.gated[0].pod->metadata.name, "two");
}

TEST_F(ProfilesQueueTest, PodsOfAllProfilesAreInOneOrder) {
  MakeQueue();
  for (const auto& [name, priority] :
       {std::pair("one", 1), {"two", 3}, {"one", 2}}) {
    Pod pod = *PodOf(name, name + std::to_string(priority));
    pod.spec.priority = priority;
    queue_->Add(std::make_shared<const Pod>(pod));
  }
  for (const char* name : {"two3", "one2", "one1"}) {
    EXPECT_EQ(queue_->Pop()->pod->metadata.name, name);
  }
}

// A scheduler with the profile "minisched", and with "lax", whose pods may go
// to cordoned nodes.
class ProfilesSchedulerTest : public SchedulerTest {
 protected:
  void StartProfiles() {
    SchedulerOptions options;
    options.configuration =
        LoadConfiguration(
            "apiVersion: kubescheduler.config.k8s.io/v1\n"
            "kind: KubeSchedulerConfiguration\n"
            "profiles:\n"
            "- schedulerName: minisched\n"
            "- schedulerName: lax\n"
            "  plugins: {multiPoint: {disabled: [{name: NodeUnschedulable}, "
            "{name: TaintToleration}]}}\n",
            FeaturesOf(options.registry))
            .configuration;
    StartScheduler(options);
  }

  static std::string PodOfScheduler(const std::string& scheduler,
                                    const std::string& name,
                                    const std::string& more = "") {
    return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name +
           "}, spec: {schedulerName: " + scheduler + ", " + more +
           "containers: [{name: c, image: i}]}}\n";
  }

  // Returns the reporting controllers and reasons of the events, by pod.
  std::set<std::pair<std::string, std::string>> Reporters() {
    std::set<std::pair<std::string, std::string>> reporters;
    for (const auto& event : client_->List<Event>().items) {
      reporters.emplace(event->regarding.name,
                        event->reporting_controller + " " + event->reason);
    }
    return reporters;
  }
};

TEST_F(ProfilesSchedulerTest, EachPodIsScheduledByItsProfile) {
  StartServer(CordonedNode("a") + PodOfScheduler("minisched", "strict") +
              PodOfScheduler("lax", "lax") +
              PodOfScheduler("unknown", "unknown"));
  StartProfiles();
  AwaitThat([&] {
    return !WhyPending(*client_, "strict").empty() && Places().size() == 1 &&
           Reporters().size() == 2;
  });
  EXPECT_THAT(Places(), ElementsAre(Pair("lax", "a")));
  EXPECT_THAT(WhyPending(*client_, "strict"),
              StartsWith("Unschedulable: 0/1 nodes are available: 1 node(s) "
                         "were unschedulable."));
  EXPECT_EQ(WhyPending(*client_, "unknown"), "");
  EXPECT_THAT(Reporters(),
              ElementsAre(Pair("lax", "lax Scheduled"),
                          Pair("strict", "minisched FailedScheduling")));
  EXPECT_THAT(metrics_.Text(),
              HasSubstr("{profile=\"lax\",result=\"scheduled\"} 1\n"));
  EXPECT_THAT(
      metrics_.Text(),
      HasSubstr("{profile=\"minisched\",result=\"unschedulable\"} 1\n"));
}

// Both pods want the only place on the node.
TEST_F(ProfilesSchedulerTest, ProfilesShareTheCache) {
  StartServer(
      "---\n{apiVersion: v1, kind: Node, metadata: {name: a}, status: "
      "{allocatable: {pods: 1}}}\n" +
      PodOfScheduler("lax", "lax") + PodOfScheduler("minisched", "strict"));
  StartProfiles();
  AwaitThat([&] {
    return Places().size() == 1 &&
           WhyPending(*client_, "lax") + WhyPending(*client_, "strict") != "";
  });
  EXPECT_EQ(CountBindings(), 1);
}

TEST_F(ProfilesSchedulerTest, APodPreemptsPodsOfOtherProfiles) {
  StartServer(
      "---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: "
      "{name: high}, value: 10}\n"
      "---\n{apiVersion: v1, kind: Node, metadata: {name: a}, status: "
      "{allocatable: {pods: 1}}}\n" +
      PodOfScheduler("minisched", "victim", "nodeName: a, ") +
      PodOfScheduler("lax", "urgent", "priorityClassName: high, "));
  StartProfiles();
  AwaitThat([&] { return Reporters().contains({"victim", "lax Preempted"}); });
  EXPECT_TRUE(
      client_->Get<Pod>("default", "victim")->metadata.deletion_timestamp);
}

}  // namespace
}  // namespace minisched
