// Tests a running scheduler with extenders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "minisched/api/storage.h"
#include "tests/extender_testing.h"
#include "tests/running_scheduler_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

constexpr char kAllowA[] = R"({"NodeNames":["a"]})";
constexpr char kRejectA[] = R"({"FailedNodes":{"a":"too hot"}})";

// An API server, a scheduler and an extender.
class ExtendersSchedulerTest : public SchedulerTest {
 protected:
  ~ExtendersSchedulerTest() override { StopScheduler(); }

  void StartWith(const std::vector<ExtenderConfig>& extenders) {
    SchedulerOptions options;
    options.configuration.extenders = extenders;
    StartScheduler(options);
  }
  // Starts a scheduler with these lines in its configuration.
  void StartConfigured(const std::string& lines) {
    SchedulerOptions options;
    options.configuration = LoadConfiguration(
                                "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                "kind: KubeSchedulerConfiguration\n" +
                                    lines,
                                FeaturesOf(options.registry))
                                .configuration;
    StartScheduler(options);
  }

  static ExtenderConfig Filters(const FakeExtender& fake,
                                bool ignorable = false) {
    return fake.With({.filter_verb = "filter",
                      .node_cache_capable = true,
                      .ignorable = ignorable});
  }

  void AwaitWhyPending(const std::string& pod, const std::string& why) {
    AwaitThat([&] { return WhyPending(*client_, pod).starts_with(why); });
  }

  FakeExtender fake_;
};

TEST_F(ExtendersSchedulerTest, AnIgnorableExtenderThatIsDownIsSkipped) {
  StartServer(NodeYaml("a") + PodYaml("web"));
  StartWith({{.url_prefix = "http://127.0.0.1:1",
              .filter_verb = "filter",
              .prioritize_verb = "prioritize",
              .bind_verb = "bind",
              .weight = 1,
              .ignorable = true}});
  EXPECT_THAT(AwaitPlaces(1), ElementsAre(Pair("web", "a")));
}

TEST_F(ExtendersSchedulerTest, AnExtenderThatIsDownIsAnError) {
  StartServer(NodeYaml("a") + PodYaml("web"));
  StartWith({{.url_prefix = "http://127.0.0.1:1", .filter_verb = "filter"}});
  AwaitWhyPending("web",
                  "SchedulerError: http://127.0.0.1:1: connection refused, or "
                  "no route to the server");
}

// No event comes in the meantime.
TEST_F(ExtendersSchedulerTest, APodIsTriedAgainAfterAnError) {
  fake_.Answers("filter", "", 500);
  StartServer(NodeYaml("a") + PodYaml("web"));
  StartWith({Filters(fake_)});
  AwaitWhyPending("web", "SchedulerError: failed filter with extender at URL " +
                             fake_.url() + "/filter, code 500");
  fake_.Answers("filter", kAllowA);
  EXPECT_THAT(AwaitPlaces(1), ElementsAre(Pair("web", "a")));
}

// No plugin has rejected the pod, so none has asked for these events.
TEST_F(ExtendersSchedulerTest, AnyEventWakesARejectedPod) {
  const std::vector<std::function<void()>> events = {
      [&] {
        client_->Patch<Node>("", "a", PatchType::kMerge,
                             R"({"metadata":{"annotations":{"b":"c"}}})");
      },
      [&] {
        StorageClass local;
        local.metadata.name = "local";
        local.provisioner = "example.com/disk";
        client_->Create(local);
      },
      [&] {
        CSIDriver driver;
        driver.metadata.name = "disk.example.com";
        client_->Create(driver);
      },
      [&] { Label("other"); }, [&] { Label("web"); }};
  for (const auto& event : events) {
    fake_.Answers("filter", kRejectA);
    StartServer(NodeYaml("a") + PodYaml("web") +
                PodYaml("other", "nodeName: a, "));
    StartWith({Filters(fake_)});
    AwaitWhyPending("web",
                    "Unschedulable: 0/1 nodes are available: 1 too hot.");
    fake_.Answers("filter", kAllowA);
    event();
    AwaitThat([this] { return Places().size() == 2; });
    EXPECT_EQ(Places().at("web"), "a");
  }
}

// The plugins don't count a resource that only the extender knows.
TEST_F(ExtendersSchedulerTest, AnExtenderManagesAResource) {
  fake_.Answers("filter", R"({"NodeNames":["b"]})");
  StartServer(NodeYaml("a") + NodeYaml("b"));
  StartConfigured(
      "extenders: [{urlPrefix: '" + fake_.url() +
      "', filterVerb: filter, nodeCacheCapable: true, managedResources: "
      "[{name: example.com/device, ignoredByScheduler: true}]}]\n"
      "profiles: [{schedulerName: minisched}]\n");
  CreatePod("plain");
  AwaitPlaces(1);
  EXPECT_EQ(fake_.CountCalls("filter"), 0);
  Pod pod;
  pod.metadata.namespace_name = "default";
  pod.metadata.name = "with-device";
  pod.spec.scheduler_name = "minisched";
  pod.spec.containers = {{.name = "c", .image = "i"}};
  for (ResourceList* resources : {&pod.spec.containers[0].resources.requests,
                                  &pod.spec.containers[0].resources.limits}) {
    (*resources)["example.com/device"] = Quantity::FromValue(1);
  }
  client_->Create(pod);
  EXPECT_EQ(AwaitPlaces(2)["with-device"], "b");
  EXPECT_EQ(fake_.CountCalls("filter"), 1);
}

TEST_F(ExtendersSchedulerTest, ABinderReplacesTheBindPlugins) {
  fake_.Answers("bind", "{}");
  StartServer(NodeYaml("a") + PodYaml("web"));
  StartWith({fake_.With({.bind_verb = "bind"})});
  ASSERT_TRUE(fake_.AwaitCalls(1));
  EXPECT_THAT(fake_.calls()[0].body,
              StartsWith(R"({"Node":"a","PodName":"web",)"
                         R"("PodNamespace":"default",)"));
  AwaitThat([this] {
    return metrics_.Text().find("result=\"scheduled\"} 1\n") !=
           std::string::npos;
  });
  EXPECT_EQ(CountBindings(), 0);
}

TEST_F(ExtendersSchedulerTest, ABinderThatFailsIsAnError) {
  fake_.Answers("bind", R"({"Error":"not now"})");
  StartServer(NodeYaml("a") + PodYaml("web"));
  StartWith({fake_.With({.bind_verb = "bind"})});
  AwaitWhyPending(
      "web", "SchedulerError: extender \"" + fake_.url() + "\" says: not now");
  EXPECT_EQ(CountBindings(), 0);
  // The scheduler has forgotten the pod, and tries it again.
  AwaitThat([this] { return fake_.CountCalls("bind") >= 2; });
}

TEST_F(ExtendersSchedulerTest, ThePluginsBindIfAnIgnorableBinderFails) {
  fake_.Answers("bind", R"({"Error":"not now"})");
  StartServer(NodeYaml("a") + PodYaml("web"));
  StartWith({fake_.With({.bind_verb = "bind", .ignorable = true})});
  EXPECT_THAT(AwaitPlaces(1), ElementsAre(Pair("web", "a")));
  EXPECT_EQ(fake_.CountCalls("bind"), 1);
  EXPECT_EQ(CountBindings(), 1);
}

TEST_F(ExtendersSchedulerTest, ThePluginsBindThePodsOfNoInterest) {
  StartServer(NodeYaml("a") + PodYaml("web"));
  StartWith(
      {fake_.With({.bind_verb = "bind",
                   .managed_resources = {{.name = "example.com/device"}}})});
  EXPECT_THAT(AwaitPlaces(1), ElementsAre(Pair("web", "a")));
  EXPECT_THAT(fake_.calls(), ::testing::IsEmpty());
}

// Without the stop, the call would end after an hour.
TEST_F(ExtendersSchedulerTest, StopEndsACallThatHangs) {
  for (const char* verb : {"filter", "prioritize", "preempt"}) {
    FakeExtender fake;
    fake.Answers("filter", R"({"NodeNames":["a","b"]})");
    fake.HangsAt(verb);
    StartServer(
        "---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, "
        "metadata: {name: high}, value: 10}\n" +
        NodeYaml("a") + NodeYaml("b") +
        (std::string(verb) == "preempt"
             ? "---\n{apiVersion: v1, kind: Node, metadata: {name: full}, "
               "status: {allocatable: {pods: 1}}}\n" +
                   PodYaml("victim", "nodeName: full, ") +
                   PodYaml("web",
                           "nodeSelector: {kubernetes.io/hostname: full}, "
                           "priorityClassName: high, ")
             : PodYaml("web")));
    if (std::string(verb) == "preempt") {
      client_->Patch<Node>(
          "", "full", PatchType::kMerge,
          R"({"metadata":{"labels":{"kubernetes.io/hostname":"full"}}})");
    }
    StartWith({fake.With({.filter_verb = "filter",
                          .preempt_verb = "preempt",
                          .prioritize_verb = "prioritize",
                          .weight = 1,
                          .http_timeout = std::chrono::hours(1),
                          .node_cache_capable = true})});
    AwaitThat([&] { return fake.CountCalls(verb) == 1; });
    const auto begin = std::chrono::steady_clock::now();
    StopScheduler();
    EXPECT_LT(std::chrono::steady_clock::now() - begin,
              std::chrono::seconds(20))
        << verb;
  }
}

TEST_F(ExtendersSchedulerTest, ProfilesShareTheExtenders) {
  fake_.Answers("filter", kAllowA);
  StartServer(NodeYaml("a") + NodeYaml("b"));
  StartConfigured(
      "extenders: [{urlPrefix: '" + fake_.url() +
      "', filterVerb: filter, nodeCacheCapable: true}]\n"
      "profiles: [{schedulerName: minisched}, {schedulerName: other}]\n");
  for (const char* profile : {"minisched", "other"}) {
    Pod pod;
    pod.metadata.namespace_name = "default";
    pod.metadata.name = profile;
    pod.spec.scheduler_name = profile;
    pod.spec.containers = {{.name = "c", .image = "i"}};
    client_->Create(pod);
  }
  EXPECT_THAT(AwaitPlaces(2),
              UnorderedElementsAre(Pair("minisched", "a"), Pair("other", "a")));
  EXPECT_EQ(fake_.CountCalls("filter"), 2);
}

// Pods and nodes come from the API server as they are.
TEST_F(ExtendersSchedulerTest, ExtendersGetWholeObjects) {
  fake_.Answers("filter", R"({"Nodes":{"items":[{"metadata":{"name":"a"}}]}})");
  StartServer(
      "---\n{apiVersion: v1, kind: Node, metadata: {name: a}, status: "
      "{allocatable: {pods: 110}, nodeInfo: {kernelVersion: '6.1'}}}\n" +
      PodYaml("web", "terminationGracePeriodSeconds: 7, "));
  StartWith({fake_.With({.filter_verb = "filter"})});
  AwaitPlaces(1);
  EXPECT_THAT(fake_.calls().at(0).body,
              HasSubstr(R"("terminationGracePeriodSeconds":7)"));
  EXPECT_THAT(fake_.calls().at(0).body, HasSubstr(R"("kernelVersion":"6.1")"));
}

}  // namespace
}  // namespace minisched
