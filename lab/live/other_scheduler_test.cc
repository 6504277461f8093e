#include "lab/live/other_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/live/files_testing.h"
#include "minisched/api/pod.h"
#include "testing/embedded_server.h"
#include "testing/log_capture.h"

namespace minisched::live {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

constexpr const char* kScheduler = "default-scheduler";
constexpr const char* kManifest = R"(
apiVersion: v1
kind: Namespace
metadata: {name: ns}
---
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: ns}
spec:
  containers: [{name: c, image: i}]
---
apiVersion: v1
kind: Pod
metadata: {name: other, namespace: ns}
spec:
  schedulerName: other
  containers: [{name: c, image: i}]
)";

class OtherSchedulerTest : public ::testing::Test {
 protected:
  // Takes items until there are `count`, for 20 s at most. Returns their keys.
  std::vector<std::string> TakeKeys(OtherScheduler& scheduler,
                                    std::size_t count) {
    std::vector<std::string> keys;
    const auto deadline = RealClock().Now() + std::chrono::seconds(20);
    while (keys.size() < count && RealClock().Now() < deadline) {
      for (const Item& item : scheduler.Take()) {
        keys.push_back(item.key);
      }
      RealClock().SleepFor(std::chrono::milliseconds(2), {});
    }
    return keys;
  }

  Event MakeEvent(const std::string& name, int count,
                  const std::string& pod_name = "a") {
    const auto pod = client_.Get<Pod>("ns", pod_name);
    Event event;
    event.metadata = {.name = name, .namespace_name = "ns"};
    event.event_time = MicroTime{RealClock().WallNow()};
    if (count > 1) {
      event.series = EventSeries{count, MicroTime{RealClock().WallNow()}};
    }
    event.reporting_controller = "example.com/scheduler";
    event.reporting_instance = "one";
    event.action = "Scheduling";
    event.reason = "FailedScheduling";
    event.regarding = {.api_version = "v1",
                       .kind = "Pod",
                       .namespace_name = "ns",
                       .name = pod_name,
                       .uid = pod->metadata.uid};
    event.note = "0/2 nodes are available: 2 Insufficient cpu.";
    event.type = "Warning";
    return event;
  }

  // Annotates the pod with the results of an attempt.
  void Annotate(const std::string& pod) {
    client_.Patch<Pod>(
        "ns", pod, PatchType::kMerge,
        R"({"metadata":{"annotations":{"kube-scheduler-simulator.sigs.k8s.io/)"
        R"(selected-node":"n"}}})");
  }
  static int SequenceOf(const OtherScheduler& scheduler,
                        const std::string& key) {
    return Json::parse(scheduler.FindAttempt(key).value())["sequence"];
  }

  std::string uid() { return client_.Get<Pod>("ns", "a")->metadata.uid; }

  EmbeddedServer server_{kManifest};
  Client client_{server_.config()};
};

TEST_F(OtherSchedulerTest, ShowsEventsAsAttempts) {
  OtherScheduler scheduler(client_, kScheduler, "");
  client_.Create(MakeEvent("first", 1));
  EXPECT_THAT(TakeKeys(scheduler, 1), ElementsAre(uid() + "/attempt/1"));
  const Json attempt =
      Json::parse(*scheduler.FindAttempt(uid() + "/1"))["attempt"];
  EXPECT_EQ(attempt["pod"], "ns/a");
  EXPECT_EQ(attempt["allNodes"], 2);
  client_.Create(MakeEvent("second", 3));
  EXPECT_THAT(TakeKeys(scheduler, 1), ElementsAre(uid() + "/attempt/4"));
}

TEST_F(OtherSchedulerTest, ShowsEventsThatComeBeforeTheirPods) {
  server_.server().SetFaults(
      "faults: [{match: {verbs: [list, watch], resource: pods},"
      " latency: 200ms}]");
  OtherScheduler scheduler(client_, kScheduler, "");
  Pod pod;
  pod.metadata = {.name = "late", .namespace_name = "ns"};
  pod.spec.containers = {{.name = "c", .image = "i"}};
  const std::string uid = client_.Create(pod)->metadata.uid;
  client_.Create(MakeEvent("first", 1, "late"));
  client_.Create(MakeEvent("second", 2, "late"));
  EXPECT_THAT(TakeKeys(scheduler, 2),
              ElementsAre(uid + "/attempt/1", uid + "/attempt/3"));
}

TEST_F(OtherSchedulerTest, DoesNotWaitForThePods) {
  server_.server().SetFaults(
      "faults: [{match: {verbs: [list], resource: pods}, hang: before}]");
  OtherScheduler scheduler(client_, kScheduler, "");
  EXPECT_THAT(scheduler.Take(), IsEmpty());
}

TEST_F(OtherSchedulerTest, ShowsAnnotationsAsAttempts) {
  OtherScheduler scheduler(client_, kScheduler, "");
  Annotate("a");
  EXPECT_THAT(TakeKeys(scheduler, 1), ElementsAre(uid() + "/attempt/1"));
  EXPECT_THAT(*scheduler.FindAttempt(uid() + "/1"), HasSubstr(R"("node":"n")"));
}

TEST_F(OtherSchedulerTest, AnAnnotationAfterTheEventIsANewerRecord) {
  OtherScheduler scheduler(client_, kScheduler, "");
  client_.Create(MakeEvent("first", 1));
  TakeKeys(scheduler, 1);
  const int sequence = SequenceOf(scheduler, uid() + "/1");
  Annotate("a");
  TakeKeys(scheduler, 1);
  EXPECT_GT(SequenceOf(scheduler, uid() + "/1"), sequence);
}

TEST_F(OtherSchedulerTest, IgnoresPodsOfOtherSchedulers) {
  client_.Create(MakeEvent("early", 1, "other"));
  OtherScheduler scheduler(client_, kScheduler, "");
  client_.Create(MakeEvent("late", 1, "other"));
  Annotate("other");
  client_.Create(MakeEvent("mine", 1));
  EXPECT_THAT(TakeKeys(scheduler, 1), ElementsAre(uid() + "/attempt/1"));
  Annotate("a");
  EXPECT_THAT(TakeKeys(scheduler, 1), ElementsAre(uid() + "/attempt/1"));
}

TEST_F(OtherSchedulerTest, AddsRecordsAsTheyAreAppended) {
  const TestFile file(ObjectLine(1, "Add", NodeJson("n")) +
                      RecordLine(1, 1, PodState("a", "active")));
  OtherScheduler scheduler(client_, kScheduler, file.path());
  EXPECT_THAT(TakeKeys(scheduler, 1), ElementsAre("uid-a/pod"));
  const std::string line =
      RecordLine(2, 2, AttemptState("a", 1, R"(,"fits":["n"])"));
  std::ofstream(file.path(), std::ios::app) << line;
  EXPECT_THAT(TakeKeys(scheduler, 1), ElementsAre("uid-a/attempt/1"));
  EXPECT_EQ(Json::parse(*scheduler.FindAttempt("uid-a/1")), Json::parse(line));
}

TEST_F(OtherSchedulerTest, KeepsTheNewestAttempts) {
  std::string lines;
  for (int i = 1; i <= 513; ++i)
    lines += RecordLine(1, i, AttemptState("a", i));
  const TestFile file(lines);
  OtherScheduler scheduler(client_, kScheduler, file.path());
  scheduler.Take();
  EXPECT_FALSE(scheduler.FindAttempt("uid-a/1"));
  EXPECT_TRUE(scheduler.FindAttempt("uid-a/2"));
  EXPECT_TRUE(scheduler.FindAttempt("uid-a/513"));
}

TEST_F(OtherSchedulerTest, StopsReadingAfterAMalformedRecord) {
  const TestFile file(RecordLine(1, 1, PodState("a", "active")) +
                      "{\"v\":1}\n" + RecordLine(1, 1, PodState("a", "bound")));
  OtherScheduler scheduler(client_, kScheduler, file.path());
  const LogCapture log;
  EXPECT_EQ(scheduler.Take().size(), 1U);
  EXPECT_THAT(log.text(), AllOf(HasSubstr(file.path() + ":2: "),
                                HasSubstr("has version 1")));
  EXPECT_THAT(scheduler.Take(), IsEmpty());
}

}  // namespace
}  // namespace minisched::live
