#include "minisched/trace/record_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "minisched/trace/trace_testing.h"

namespace minisched {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Not;
using ::testing::SizeIs;

class RecordLogTest : public ::testing::Test {
 protected:
  static void AddPod(RecordLog& log, const std::string& uid, Place place,
                     std::string event = "") {
    log.Add(
        {.state = PodRecord{
             .uid = uid, .place = place, .move = {.event = std::move(event)}}});
  }

  static void AddAttempt(RecordLog& log, const std::string& uid, int number,
                         std::string failure = "") {
    log.Add({.state = Attempt{
                 .uid = uid, .number = number, .failure = std::move(failure)}});
  }

  // Adds `count` records of a bound pod.
  static void AddBoundRecords(RecordLog& log, int count) {
    for (int i = 0; i < count; ++i) AddPod(log, "ended", Place::kBound);
  }
};

TEST_F(RecordLogTest, NumbersTheRecords) {
  RecordLog log({});
  EXPECT_EQ(log.last_sequence(), 0U);
  EXPECT_EQ(log.Add({.state = PodRecord{.uid = "a"}}).sequence, 1U);
  EXPECT_EQ(log.Add({.state = PodRecord{.uid = "a"}}).sequence, 2U);
  EXPECT_EQ(log.last_sequence(), 2U);
}

TEST_F(RecordLogTest, AfterReturnsTheLaterRecordsInOrder) {
  RecordLog log({});
  for (const char* uid : {"a", "b", "a", "c"}) AddPod(log, uid, Place::kActive);
  EXPECT_THAT(Describe(log.After(1)),
              ElementsAre("b active", "a active", "c active"));
  EXPECT_THAT(log.After(4), IsEmpty());
}

TEST_F(RecordLogTest, LastOfEachOmitsReplacedRecords) {
  RecordLog log({});
  AddPod(log, "a", Place::kActive);
  log.Add({.state = SchedulerRecord{}});
  AddPod(log, "b", Place::kActive);
  AddPod(log, "a", Place::kInFlight);
  AddAttempt(log, "a", 1);
  AddAttempt(log, "a", 2);
  AddAttempt(log, "a", 1);
  AddPod(log, "a", Place::kBound);
  EXPECT_THAT(Describe(log.LastOfEach()),
              ElementsAre("scheduler", "b active", "a #2", "a #1", "a bound"));
}

TEST_F(RecordLogTest, RemovesTheOldestRecordsOfEndedPods) {
  RecordLog log({.records = 3});
  for (const char* uid : {"a", "b", "c"}) AddPod(log, uid, Place::kGone);
  EXPECT_THAT(log.After(0), SizeIs(3));
  AddPod(log, "d", Place::kBound);
  EXPECT_THAT(Describe(log.After(0)),
              ElementsAre("b gone", "c gone", "d bound"));
  EXPECT_THAT(Describe(log.LastOfEach()),
              ElementsAre("b gone", "c gone", "d bound"));
}

TEST_F(RecordLogTest, KeepsTheLastRecordOfAPendingPod) {
  RecordLog log({.records = 3});
  for (const Place place :
       {Place::kGated, Place::kActive, Place::kBackoff, Place::kUnschedulable,
        Place::kInFlight, Place::kWaiting, Place::kAssumed}) {
    AddPod(log, "a", place, "replaced");
    AddPod(log, "a", place);
    AddBoundRecords(log, 100);
    const std::string expected = "a " + std::string(PlaceName(place));
    EXPECT_THAT(Describe(log.LastOfEach()),
                ElementsAre(expected, "ended bound"));
    EXPECT_THAT(
        Describe(log.After(0)),
        ElementsAre(expected, "ended bound", "ended bound", "ended bound"));
  }
  AddPod(log, "a", Place::kBound);
  AddBoundRecords(log, 100);
  EXPECT_THAT(Describe(log.LastOfEach()), ElementsAre("ended bound"));
}

TEST_F(RecordLogTest, KeepsTheLastRecordOfTheQueue) {
  RecordLog log({.records = 2});
  log.Add({.state = QueueRecord{{"a"}, 1}});
  log.Add({.state = QueueRecord{{"b", "a"}, 2}});
  AddBoundRecords(log, 100);
  EXPECT_THAT(Describe(log.LastOfEach()),
              ElementsAre("queue b a, 2 pods", "ended bound"));
}

TEST_F(RecordLogTest, KeepsTheLastRecordsOfPendingPodsInOrder) {
  RecordLog log({.records = 2});
  log.Add({.state = SchedulerRecord{}});
  for (const char* uid : {"c", "a", "b"}) AddPod(log, uid, Place::kActive);
  AddPod(log, "c", Place::kUnschedulable);
  AddBoundRecords(log, 100);
  EXPECT_THAT(Describe(log.LastOfEach()),
              ElementsAre("scheduler", "a active", "b active",
                          "c unschedulable", "ended bound"));
}

TEST_F(RecordLogTest, RemovesTheOldestAttempts) {
  RecordLog log({.attempts = 2, .kept_attempt_bytes = 0});
  AddAttempt(log, "a", 1);
  AddPod(log, "a", Place::kActive);
  AddAttempt(log, "b", 1);
  EXPECT_NE(log.FindAttempt("a", 1), nullptr);
  AddAttempt(log, "b", 2);
  EXPECT_EQ(log.FindAttempt("a", 1), nullptr);
  EXPECT_THAT(Describe(log.After(0)), ElementsAre("a active", "b #1", "b #2"));
}

TEST_F(RecordLogTest, FindsTheLastRecordOfAnAttempt) {
  RecordLog log({.records = 2, .attempts = 2});
  EXPECT_EQ(log.FindAttempt("a", 1), nullptr);
  AddAttempt(log, "a", 1, "first");
  AddAttempt(log, "a", 1, "second");
  AddAttempt(log, "a", 2, "other");  // removes "first"
  ASSERT_NE(log.FindAttempt("a", 1), nullptr);
  EXPECT_EQ(log.FindAttempt("a", 1)->sequence, 2U);
  EXPECT_EQ(log.FindAttempt("b", 1), nullptr);
  AddBoundRecords(log, 2);  // removes the attempt that is not the last
  EXPECT_EQ(log.FindAttempt("a", 1), nullptr);
  EXPECT_NE(log.FindAttempt("a", 2), nullptr);
  AddPod(log, "a", Place::kBound);
  EXPECT_EQ(log.FindAttempt("a", 2), nullptr);
}

TEST_F(RecordLogTest, KeepsTheLastAttemptOfEachPendingPod) {
  for (const bool is_read : {true, false}) {
    RecordLog log({.records = 3, .attempts = 2});
    for (const char* uid : {"a", "b", "c"}) {
      AddPod(log, uid, Place::kUnschedulable);
      for (const int number : {1, 2}) {
        Record record{.state = Attempt{.uid = uid, .number = number}};
        is_read ? void(log.Add(record)) : log.AddUnread(record);
      }
    }
    AddBoundRecords(log, 100);
    const auto kept =
        ElementsAre("a unschedulable", "a #2", "b unschedulable", "b #2",
                    "c unschedulable", "c #2", "ended bound");
    EXPECT_THAT(Describe(log.LastOfEach()), kept);
    EXPECT_NE(log.FindAttempt("a", 2), nullptr);
    EXPECT_EQ(log.FindAttempt("a", 1), nullptr);
    AddPod(log, "a", Place::kBound);
    AddPod(log, "b", Place::kGone);
    EXPECT_THAT(Describe(log.LastOfEach()),
                ElementsAre("c unschedulable", "c #2", "ended bound", "a bound",
                            "b gone"));
  }
}

TEST_F(RecordLogTest, OfAnAttemptThatNobodyReadsOnlyTheLastRecordIsHeld) {
  RecordLog log({});
  AddPod(log, "a", Place::kInFlight);
  for (const char* failure : {"scheduling cycle", "Bind"}) {
    log.AddUnread(
        {.state = Attempt{.uid = "a", .number = 1, .failure = failure}});
  }
  EXPECT_THAT(Describe(log.After(0)), ElementsAre("a in flight", "a #1"));
  EXPECT_EQ(std::get<Attempt>(log.FindAttempt("a", 1)->state).failure, "Bind");
  AddPod(log, "a", Place::kUnschedulable);
  AddAttempt(log, "a", 2);  // read
  EXPECT_THAT(Describe(log.After(0)),
              ElementsAre("a in flight", "a unschedulable", "a #2"));
}

TEST_F(RecordLogTest, KeptAttemptsHaveALimitAndTheOldestGoFirst) {
  RecordLog log({.records = 1, .kept_attempt_bytes = 100'000});
  for (int i = 0; i < 1000; ++i) {
    const std::string uid = std::to_string(i);
    AddPod(log, uid, Place::kUnschedulable);
    AddAttempt(log, uid, 1, std::string(10'000, '.'));
  }
  AddBoundRecords(log, 1);
  EXPECT_EQ(log.FindAttempt("980", 1), nullptr);
  EXPECT_NE(log.FindAttempt("999", 1), nullptr);
  EXPECT_THAT(log.After(0), SizeIs(AllOf(Ge(1009U), Le(1010U))));
}

TEST_F(RecordLogTest, LimitsTheBytes) {
  RecordLog log({.bytes = 100'000, .kept_attempt_bytes = 0});
  for (int i = 0; i < 1000; ++i) {
    AddPod(log, "a", Place::kBound, std::string(10'000, '.'));
  }
  EXPECT_THAT(log.After(0), SizeIs(AllOf(Ge(8U), Le(9U))));
  for (int i = 0; i < 1000; ++i) {
    AddAttempt(log, "a", i, std::string(10'000, '.'));
  }
  EXPECT_THAT(log.After(0), SizeIs(AllOf(Ge(8U), Le(9U))));
}

TEST_F(RecordLogTest, LimitsTheBytesOfAttempts) {
  RecordLog log({.attempt_bytes = 100'000, .kept_attempt_bytes = 0});
  AddPod(log, "a", Place::kBound, std::string(200'000, '.'));
  for (int i = 0; i < 100; ++i) {
    AddAttempt(log, "a", i, std::string(10'000, '.'));
    AddPod(log, "a", Place::kBound);
  }
  EXPECT_THAT(log.After(0), SizeIs(AllOf(Ge(109U), Le(110U))));
  EXPECT_EQ(log.FindAttempt("a", 90), nullptr);
  EXPECT_NE(log.FindAttempt("a", 92), nullptr);
  AddAttempt(log, "a", 100, std::string(200'000, '.'));
  EXPECT_EQ(log.FindAttempt("a", 99), nullptr);
  EXPECT_NE(log.FindAttempt("a", 100), nullptr);
}

TEST_F(RecordLogTest, KeepsTheNewestRecordEvenIfItExceedsTheLimit) {
  RecordLog log({.bytes = 1000});
  AddPod(log, "a", Place::kBound, std::string(10'000, '.'));
  AddPod(log, "b", Place::kBound, std::string(10'000, '.'));
  EXPECT_THAT(Describe(log.After(0)), ElementsAre("b bound"));
}

TEST_F(RecordLogTest, RemovedRecordsNoLongerCountAsBytes) {
  RecordLog log({.attempts = 1, .bytes = 100'000, .kept_attempt_bytes = 0});
  for (int i = 0; i < 100; ++i) {
    AddAttempt(log, "a", i, std::string(10'000, '.'));
  }
  for (int i = 0; i < 100; ++i) {
    AddPod(log, std::to_string(i), Place::kUnschedulable,
           std::string(10'000, '.'));
  }
  for (int i = 0; i < 100; ++i) {
    AddPod(log, std::to_string(i), Place::kBound);
  }
  EXPECT_THAT(log.LastOfEach(), SizeIs(100));
}

TEST_F(RecordLogTest, CountsEachPartOfARecordAsBytes) {
  const std::string big(10'000, '.');
  const std::vector<std::int64_t> numbers(1250);
  const std::vector<Record> records = {
      {.state = PodRecord{.pod = big}},
      {.state = PodRecord{.uid = big}},
      {.state = PodRecord{.move = {.plugins = {big}}}},
      {.state = PodRecord{.move = {.wakes = {big}}}},
      {.state = PodRecord{.move = {.node = big}}},
      {.state = Attempt{.pod = big}},
      {.state = Attempt{.uid = big}},
      {.state = Attempt{.filters = {big}}},
      {.state = Attempt{.fits = {big}}},
      {.state = Attempt{.scores = {{.plugin = big}}}},
      {.state = Attempt{.scores = {{.raw = numbers}}}},
      {.state = Attempt{.scores = {{.normalized = numbers}}}},
      {.state = Attempt{.rejected = {{.node = big}}}},
      {.state = Attempt{.rejected = {{.rejections = {{.plugin = big}}}}}},
      {.state = Attempt{.rejected = {{.rejections = {{.reasons = {big}}}}}}},
      {.state = Attempt{.rejected = std::vector<RejectedNode>(200)}},
      {.state = Attempt{.points = {{.point = big}}}},
      {.state = Attempt{.points = {{.plugin = big}}}},
      {.state = Attempt{.points = {{.status = big}}}},
      {.state = Attempt{.points = {{.message = big}}}},
      {.state = Attempt{.node = big}},
      {.state = Attempt{.failure = big}},
      {.state = Attempt{.reasons = {{.plugin = big}}}},
      {.state = Attempt{.reasons = {{.reason = big}}}},
      {.state = SchedulerRecord{.name = big}}};
  for (std::size_t i = 0; i < records.size(); ++i) {
    RecordLog log({.bytes = 10'000, .kept_attempt_bytes = 0});
    AddPod(log, "small", Place::kBound);
    log.Add(records[i]);
    EXPECT_THAT(Describe(log.After(0)), Not(Contains("small bound"))) << i;
  }
}

}  // namespace
}  // namespace minisched
