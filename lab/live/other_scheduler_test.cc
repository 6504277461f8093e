#include "lab/live/other_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/live/files_testing.h"
#include "minisched/api/parse_error.h"
#include "minisched/api/pod.h"
#include "testing/embedded_server.h"

namespace minisched::live {
namespace {

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
  OtherScheduler scheduler(client_, kScheduler, OtherScheduler::Source::kPods);
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
  OtherScheduler scheduler(client_, kScheduler, OtherScheduler::Source::kPods);
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
  OtherScheduler scheduler(client_, kScheduler, OtherScheduler::Source::kPods);
  EXPECT_THAT(scheduler.Take(), IsEmpty());
}

TEST_F(OtherSchedulerTest, ShowsAnnotationsAsAttempts) {
  OtherScheduler scheduler(client_, kScheduler, OtherScheduler::Source::kPods);
  Annotate("a");
  EXPECT_THAT(TakeKeys(scheduler, 1), ElementsAre(uid() + "/attempt/1"));
  EXPECT_THAT(*scheduler.FindAttempt(uid() + "/1"), HasSubstr(R"("node":"n")"));
}

TEST_F(OtherSchedulerTest, AnAnnotationAfterTheEventIsANewerRecord) {
  OtherScheduler scheduler(client_, kScheduler, OtherScheduler::Source::kPods);
  client_.Create(MakeEvent("first", 1));
  TakeKeys(scheduler, 1);
  const int sequence = SequenceOf(scheduler, uid() + "/1");
  Annotate("a");
  TakeKeys(scheduler, 1);
  EXPECT_GT(SequenceOf(scheduler, uid() + "/1"), sequence);
}

TEST_F(OtherSchedulerTest, IgnoresPodsOfOtherSchedulers) {
  client_.Create(MakeEvent("early", 1, "other"));
  OtherScheduler scheduler(client_, kScheduler, OtherScheduler::Source::kPods);
  client_.Create(MakeEvent("late", 1, "other"));
  Annotate("other");
  client_.Create(MakeEvent("mine", 1));
  EXPECT_THAT(TakeKeys(scheduler, 1), ElementsAre(uid() + "/attempt/1"));
  Annotate("a");
  EXPECT_THAT(TakeKeys(scheduler, 1), ElementsAre(uid() + "/attempt/1"));
}

TEST_F(OtherSchedulerTest, ReadsRecords) {
  OtherScheduler scheduler(client_, kScheduler,
                           OtherScheduler::Source::kRecords);
  scheduler.ReadRecord(ObjectLine(1, "Add", NodeJson("n")));
  scheduler.ReadRecord(RecordLine(1, 1, PodState("a", "active")));
  const std::string line =
      RecordLine(2, 2, AttemptState("a", 1, R"(,"fits":["n"])"));
  scheduler.ReadRecord(line);
  EXPECT_THAT(TakeKeys(scheduler, 2),
              ElementsAre("uid-a/pod", "uid-a/attempt/1"));
  EXPECT_EQ(Json::parse(*scheduler.FindAttempt("uid-a/1")), Json::parse(line));
  EXPECT_THROW(scheduler.ReadRecord("{\"v\":1}"), ParseError);
  scheduler.Clear();
  EXPECT_FALSE(scheduler.FindAttempt("uid-a/1"));
}

TEST_F(OtherSchedulerTest, ReadsOnlyNewRecordsAndCountsTheMissingOnes) {
  OtherScheduler scheduler(client_, kScheduler,
                           OtherScheduler::Source::kRecords);
  for (const int sequence : {3, 4, 3, 4, 7, 8}) {
    scheduler.ReadRecord(RecordLine(1, sequence, PodState("a", "active")),
                         /*only_new=*/true);
  }
  EXPECT_EQ(scheduler.Take().size(), 4U);
  EXPECT_EQ(scheduler.TakeMissing(), 2U);
  EXPECT_EQ(scheduler.TakeMissing(), 0U);
}

TEST_F(OtherSchedulerTest, ReplacedRecordsAreNotMissing) {
  OtherScheduler scheduler(client_, kScheduler,
                           OtherScheduler::Source::kRecords);
  const auto read = [&](int sequence, int replaced) {
    Json record = Json::parse(RecordLine(1, sequence, PodState("a", "active")));
    record["replaced"] = replaced;
    scheduler.ReadRecord(record.dump(), /*only_new=*/true);
    return scheduler.TakeMissing();
  };
  EXPECT_EQ(read(3, 2), 0U);
  EXPECT_EQ(read(5, 1), 0U);
  EXPECT_EQ(read(9, 2), 1U);
  EXPECT_EQ(read(11, 7), 0U);  // also some from before the last record
}

TEST_F(OtherSchedulerTest, KeepsTheNewestAttempts) {
  const std::string line = RecordLine(1, 1, AttemptState("a", 1));
  OtherScheduler scheduler(client_, kScheduler,
                           OtherScheduler::Source::kRecords,
                           /*attempt_bytes=*/10 * line.size());
  for (int i = 1; i <= 50; ++i) {
    scheduler.ReadRecord(RecordLine(1, i, AttemptState("a", i)));
  }
  EXPECT_FALSE(scheduler.FindAttempt("uid-a/1"));
  EXPECT_FALSE(scheduler.FindAttempt("uid-a/39"));
  EXPECT_TRUE(scheduler.FindAttempt("uid-a/45"));
  EXPECT_TRUE(scheduler.FindAttempt("uid-a/50"));
}

}  // namespace
}  // namespace minisched::live
