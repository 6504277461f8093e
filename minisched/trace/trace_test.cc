#include "minisched/trace/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "minisched/base/fake_clock.h"
#include "minisched/trace/trace_testing.h"
#include "testing/waiting_thread.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class TraceTest : public ::testing::Test {
 protected:
  void Move(const std::string& pod, Place place, Move move = {}) {
    trace_.Moved(TracedPod(pod), place, std::move(move));
  }

  static std::vector<RecordPtr> Read(TraceReader& reader) {
    return reader.Next(Stopped());
  }

  template <class T>
  static T Last(TraceReader& reader) {
    const auto records = Read(reader);
    return std::get<T>(records.back()->state);
  }

  FakeClock clock_;
  Trace trace_{"minisched", clock_};
};

TEST_F(TraceTest, ALateReaderReturnsTheLastRecordOfEachThenLaterRecords) {
  Move("a", Place::kActive);
  Move("b", Place::kActive);
  Move("a", Place::kInFlight);
  trace_.Pause();
  Move("c", Place::kActive);
  TraceReader reader(trace_);
  EXPECT_THAT(Describe(Read(reader)),
              ElementsAre("b active", "a in flight", "scheduler", "c active"));
  EXPECT_THAT(Read(reader), IsEmpty());
  Move("c", Place::kInFlight);
  Move("c", Place::kBound);
  EXPECT_THAT(Describe(Read(reader)), ElementsAre("c in flight", "c bound"));
  EXPECT_THAT(Read(reader), IsEmpty());
}

TEST_F(TraceTest, RecordsHaveTheTimeOfTheirReport) {
  clock_.Advance(90s);
  Move("a", Place::kActive);
  TraceReader reader(trace_);
  clock_.Advance(1s);
  EXPECT_EQ(Read(reader).back()->time, ParseTime("2026-01-01T00:01:30Z"));
  EXPECT_EQ(trace_.Now(), ParseTime("2026-01-01T00:01:31Z"));
}

TEST_F(TraceTest, MovedRecordsThePodAndItsMove) {
  clock_.Advance(10s);
  Move("web", Place::kBackoff,
       {.event = "ScheduleAttemptFailure",
        .plugins = {"NodeName"},
        .attempts = 2,
        .until = clock_.Now() + 1500ms});
  TraceReader reader(trace_);
  const auto pod = Last<PodRecord>(reader);
  EXPECT_EQ(pod.pod, "shop/web");
  EXPECT_EQ(pod.uid, "web");
  EXPECT_EQ(pod.place, Place::kBackoff);
  EXPECT_EQ(pod.move.event, "ScheduleAttemptFailure");
  EXPECT_THAT(pod.move.plugins, ElementsAre("NodeName"));
  EXPECT_EQ(pod.move.attempts, 2);
  EXPECT_EQ(pod.until, ParseTime("2026-01-01T00:00:11.5Z"));
  Move("web", Place::kActive);
  EXPECT_EQ(Last<PodRecord>(reader).until, std::nullopt);
}

TEST_F(TraceTest, MovedCallsTheObserver) {
  std::vector<std::tuple<std::string, Place, std::string>> moves;
  Trace trace(
      "minisched", clock_, {},
      [&moves](const Pod& pod, Place place, const minisched::Move& move) {
        moves.emplace_back(pod.metadata.name, place, move.event);
      });
  trace.Moved(TracedPod("a"), Place::kActive, {.event = "UnscheduledPodAdd"});
  trace.Moved(TracedPod("a"), Place::kInFlight);
  EXPECT_THAT(moves,
              ElementsAre(std::tuple("a", Place::kActive, "UnscheduledPodAdd"),
                          std::tuple("a", Place::kInFlight, "")));
}

TEST_F(TraceTest, ReturnsTheLastRecordOfEachPod) {
  EXPECT_THAT(trace_.LastOfEachPod(), IsEmpty());
  const TraceReader reader(trace_, AttemptDetail::kFirstRejections);
  Move("a", Place::kActive);
  Move("b", Place::kActive);
  Move("a", Place::kInFlight);
  trace_.Tried([] { return Attempt{.uid = "a", .number = 1}; });
  Move("c", Place::kActive);
  trace_.Pause();
  Move("b", Place::kBound);
  EXPECT_THAT(Describe(trace_.LastOfEachPod()),
              ElementsAre("a in flight", "c active", "b bound"));
}

TEST_F(TraceTest, RecordsTheScheduler) {
  TraceReader reader(trace_);
  const auto scheduler = Last<SchedulerRecord>(reader);
  EXPECT_EQ(scheduler.name, "minisched");
  EXPECT_EQ(scheduler.program, "");
  EXPECT_FALSE(scheduler.paused);
  trace_.Pause();
  EXPECT_TRUE(Last<SchedulerRecord>(reader).paused);
  trace_.Resume();
  EXPECT_FALSE(Last<SchedulerRecord>(reader).paused);
  trace_.Step();
  EXPECT_TRUE(Last<SchedulerRecord>(reader).paused);
  Trace named("minisched", clock_, {}, {}, "minisched-13");
  TraceReader of_named(named);
  EXPECT_EQ(Last<SchedulerRecord>(of_named).program, "minisched-13");
}

TEST_F(TraceTest, NextBlocksUntilThereIsARecord) {
  TraceReader reader(trace_);
  Read(reader);
  std::vector<RecordPtr> records;
  std::stop_source stop;
  {
    const WaitingThread thread(
        [&] { records = reader.Next(stop.get_token()); });
    EXPECT_TRUE(thread.AwaitSleep());
    Move("a", Place::kActive);
    EXPECT_TRUE(thread.AwaitEnd());
    stop.request_stop();  // ends the thread if the record did not
  }
  EXPECT_THAT(Describe(records), ElementsAre("a active"));
}

TEST_F(TraceTest, AStopEndsNext) {
  TraceReader reader(trace_);
  Read(reader);
  std::vector<RecordPtr> records;
  std::stop_source stop;
  {
    const WaitingThread thread(
        [&] { records = reader.Next(stop.get_token()); });
    EXPECT_TRUE(thread.AwaitSleep());
    stop.request_stop();
    EXPECT_TRUE(thread.AwaitEnd());
    Move("a", Place::kActive);  // ends the thread if the stop did not
  }
  EXPECT_THAT(records, IsEmpty());
}

class TriedTest : public TraceTest {
 protected:
  static Attempt AttemptOf(const std::string& pod) {
    return {.pod = "shop/" + pod, .uid = pod, .number = 1};
  }

  void Try(const Attempt& attempt) {
    trace_.Tried([&] { return attempt; });
  }

  TraceReader reader_{trace_, AttemptDetail::kFirstRejections};
};

TEST_F(TraceTest, TriedCallsDescribeOnlyForAReaderOfAttempts) {
  int calls = 0;
  const auto attempt = [&calls] {
    ++calls;
    return Attempt{.uid = "a", .number = 1};
  };
  trace_.Tried(attempt);
  const TraceReader moves_only(trace_);
  trace_.Tried(attempt);
  EXPECT_EQ(calls, 0);
  for (const auto detail :
       {AttemptDetail::kFirstRejections, AttemptDetail::kAllRejections}) {
    calls = 0;
    {
      const TraceReader reader(trace_, detail);
      trace_.Tried(attempt);
      EXPECT_EQ(calls, 1);
    }
    trace_.Tried(attempt);
    EXPECT_EQ(calls, 1);
  }
}

TEST_F(TraceTest, KeepFailuresDescribesFailedAttemptsForLaterReaders) {
  const auto attempt = [] {
    return Attempt{.uid = "a", .number = 1, .failure = "no node"};
  };
  trace_.Tried(attempt, /*failed=*/true);
  EXPECT_EQ(trace_.FindAttempt("a", 1), nullptr);
  trace_.KeepFailures();
  trace_.Tried(attempt);
  EXPECT_EQ(trace_.FindAttempt("a", 1), nullptr);
  trace_.Tried(attempt, /*failed=*/true);
  Move("a", Place::kUnschedulable);
  TraceReader reader(trace_, AttemptDetail::kFirstRejections);
  EXPECT_THAT(Describe(reader.Poll()),
              ElementsAre("scheduler", "a #1", "a unschedulable"));
}

TEST_F(TraceTest, KeepsAFailedBindingWhoseSchedulingCycleNobodyRead) {
  trace_.KeepFailures();
  trace_.Tried(
      [] {
        return Attempt{.uid = "a",
                       .number = 1,
                       .points = {{.point = "Bind", .status = "Error"}},
                       .node = "node-1",
                       .failure = "no"};
      },
      /*failed=*/true);
  const RecordPtr kept = trace_.FindAttempt("a", 1);
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(std::get<Attempt>(kept->state).points.size(), 1U);
}

TEST_F(TraceTest, WantsAllRejectionsWhileAReaderAsksForThem) {
  const TraceReader moves_only(trace_);
  const TraceReader first(trace_, AttemptDetail::kFirstRejections);
  EXPECT_FALSE(trace_.wants_all_rejections());
  {
    const TraceReader all(trace_, AttemptDetail::kAllRejections);
    EXPECT_TRUE(trace_.wants_all_rejections());
    { const TraceReader another(trace_, AttemptDetail::kAllRejections); }
    EXPECT_TRUE(trace_.wants_all_rejections());
  }
  EXPECT_FALSE(trace_.wants_all_rejections());
}

TEST_F(TriedTest, ASecondReportAddsToTheFirst) {
  Attempt first = AttemptOf("a");
  first.filters = {"NodeName"};
  first.fits = {"node-2"};
  first.rejected = {
      {.node = "node-1", .rejections = {{"NodeName", {"wrong"}}}}};
  first.points = {{.point = "PreFilter"}};
  first.all_rejections = true;
  first.node = "node-2";
  Try(first);
  Try(AttemptOf("b"));
  EXPECT_EQ(Last<Attempt>(reader_).reports, 1);

  Attempt second = AttemptOf("a");
  second.points = {{.point = "Bind"}};
  second.failure = "conflict";
  Try(second);
  const auto whole = Last<Attempt>(reader_);
  EXPECT_EQ(whole.pod, "shop/a");
  EXPECT_THAT(whole.filters, ElementsAre("NodeName"));
  EXPECT_THAT(whole.fits, SizeIs(1));
  EXPECT_THAT(whole.rejected, SizeIs(1));
  EXPECT_TRUE(whole.all_rejections);
  EXPECT_EQ(whole.all_nodes, 2U);
  EXPECT_EQ(whole.feasible_nodes, 1U);
  EXPECT_THAT(whole.reasons, SizeIs(1));
  ASSERT_THAT(whole.points, SizeIs(2));
  EXPECT_EQ(whole.points[0].point, "PreFilter");
  EXPECT_EQ(whole.points[1].point, "Bind");
  EXPECT_EQ(whole.node, "");
  EXPECT_EQ(whole.failure, "conflict");
  EXPECT_EQ(whole.reports, 2);
}

// A thousand nodes are too many to copy for each Binding.
TEST_F(TriedTest, TheReportsOfAnAttemptShareItsNodes) {
  Attempt attempt = AttemptOf("a");
  attempt.fits = {"node-1"};
  Try(attempt);
  Attempt binding = AttemptOf("a");
  binding.points = {{.point = "Bind"}};
  Try(binding);
  const Attempt last = Last<Attempt>(reader_);
  EXPECT_EQ(last.reports, 2);
  EXPECT_EQ(&last.fits[0], &attempt.fits[0]);
}

TEST_F(TriedTest, DropsASecondReportWithoutAFirst) {
  Attempt binding = AttemptOf("a");
  binding.points = {{.point = "Bind"}};
  Try(binding);
  EXPECT_THAT(Describe(Read(reader_)), ElementsAre("scheduler"));
}

// A scheduler that has forgotten a pod reports attempt 1 of the pod again.
TEST_F(TriedTest, AReportWithNodesReplacesTheAttempt) {
  Attempt attempt = AttemptOf("a");
  attempt.fits = {"node-1"};
  attempt.points = {{.point = "PreFilter"}};
  Try(attempt);
  Try(attempt);
  const auto last = Last<Attempt>(reader_);
  EXPECT_THAT(last.fits, SizeIs(1));
  EXPECT_THAT(last.points, SizeIs(1));
  EXPECT_EQ(last.all_nodes, 1U);
  EXPECT_EQ(last.reports, 1);
}

TEST_F(TriedTest, AnotherAttemptOfThePodIsAnotherRecord) {
  Attempt attempt = AttemptOf("a");
  attempt.fits = {"node-1"};
  Try(attempt);
  attempt.number = 2;
  Try(attempt);
  EXPECT_THAT(Describe(Read(reader_)),
              ElementsAre("scheduler", "a #1", "a #2"));
  TraceReader late(trace_);
  EXPECT_EQ(Last<Attempt>(late).all_nodes, 1U);
}

// A node counts once for each reason of its first rejection, as in FitError.
TEST_F(TriedTest, CountsTheFirstRejections) {
  Attempt attempt = AttemptOf("a");
  const Rejection name{"NodeName", {"wrong"}};
  const Rejection fit{"NodeResourcesFit", {"cpu", "memory"}};
  attempt.fits = {"node-3"};
  attempt.rejected = {{.node = "node-1", .rejections = {name, fit}},
                      {.node = "node-2", .rejections = {fit}},
                      {.node = "node-4", .rejections = {name}}};
  Try(attempt);
  const auto counted = Last<Attempt>(reader_);
  EXPECT_EQ(counted.all_nodes, 4U);
  EXPECT_EQ(counted.feasible_nodes, 1U);
  std::map<std::string, std::size_t> counts;
  for (const ReasonCount& count : counted.reasons) {
    counts[count.plugin + ": " + count.reason] = count.nodes;
  }
  EXPECT_EQ(counts, (std::map<std::string, std::size_t>{
                        {"NodeName: wrong", 2},
                        {"NodeResourcesFit: cpu", 1},
                        {"NodeResourcesFit: memory", 1}}));
}

class LimitedTraceTest : public TriedTest {
 protected:
  Trace limited_{"minisched", clock_, {.nodes_per_attempt = 3}};
  TraceReader reader_{limited_, AttemptDetail::kFirstRejections};

  void TryNodes(int feasible, int rejected) {
    std::vector<std::string> fits;
    ScoreColumn scores{.plugin = "P"};
    for (int i = 0; i < feasible; ++i) {
      fits.push_back("fits-" + std::to_string(i));
      scores.raw.push_back(i);
      scores.normalized.push_back(i % 100);
    }
    std::vector<RejectedNode> others;
    for (int i = 0; i < rejected; ++i) {
      others.push_back(
          {.node = "no-" + std::to_string(i), .rejections = {{"P", {"odd"}}}});
    }
    Attempt attempt = AttemptOf("a");
    attempt.fits = std::move(fits);
    attempt.scores = {std::move(scores)};
    attempt.rejected = std::move(others);
    limited_.Tried([&] { return attempt; });
  }
};

TEST_F(LimitedTraceTest, CountsTheNodesBeyondTheLimit) {
  TryNodes(2, 500);
  const auto attempt = Last<Attempt>(reader_);
  EXPECT_THAT(attempt.fits.get(), ElementsAre("fits-0", "fits-1"));
  ASSERT_THAT(attempt.rejected, SizeIs(1));
  EXPECT_EQ(attempt.rejected[0].node, "no-0");
  // The memory of the others is freed.
  EXPECT_EQ(attempt.rejected.get().capacity(), 1U);
  EXPECT_EQ(attempt.all_nodes, 502U);
  EXPECT_EQ(attempt.feasible_nodes, 2U);
  ASSERT_THAT(attempt.reasons, SizeIs(1));
  EXPECT_EQ(attempt.reasons[0].nodes, 500U);
}

TEST_F(LimitedTraceTest, KeepsTheScoresOfTheNodesThatItKeeps) {
  TryNodes(1000, 1);
  const auto attempt = Last<Attempt>(reader_);
  EXPECT_THAT(attempt.fits, SizeIs(3));
  EXPECT_THAT(attempt.rejected, SizeIs(0));
  ASSERT_THAT(attempt.scores, SizeIs(1));
  EXPECT_THAT(attempt.scores[0].raw, ElementsAre(0, 1, 2));
  EXPECT_THAT(attempt.scores[0].normalized, ElementsAre(0, 1, 2));
  EXPECT_EQ(attempt.feasible_nodes, 1000U);
}

// Compares a slow reader with a prompt one.
TEST_F(TraceTest, ASlowReaderLosesOnlyReplacedRecordsAndThoseOfEndedPods) {
  Trace trace("minisched", clock_, {.records = 20});
  TraceReader prompt(trace);
  TraceReader slow(trace);
  std::mt19937 random(1);
  const std::vector<Place> places = {Place::kActive, Place::kInFlight,
                                     Place::kUnschedulable, Place::kBound,
                                     Place::kGone};
  for (int round = 0; round < 200; ++round) {
    std::vector<RecordPtr> all;
    const int moves = static_cast<int>(random() % 100);
    for (int i = 0; i < moves; ++i) {
      trace.Moved(TracedPod(std::to_string(random() % 40)),
                  places[random() % places.size()]);
      if (i % 10 == 0) trace.Pause();
      for (auto& record : Read(prompt)) all.push_back(std::move(record));
    }
    std::map<std::string, std::uint64_t> last;
    for (const RecordPtr& record : all) {
      const auto* pod = std::get_if<PodRecord>(&record->state);
      last[pod != nullptr ? pod->uid : "scheduler"] = record->sequence;
    }
    std::uint64_t before = 0;
    std::set<std::uint64_t> got;
    for (const RecordPtr& record : Read(slow)) {
      EXPECT_LT(before, record->sequence);
      before = record->sequence;
      got.insert(record->sequence);
    }
    if (round == 0) continue;  // the first Read() returns last records only
    std::size_t newest = 0;
    for (auto it = all.rbegin(); it != all.rend(); ++it, ++newest) {
      const Record& record = **it;
      const auto* pod = std::get_if<PodRecord>(&record.state);
      const bool ended = pod != nullptr && (pod->place == Place::kBound ||
                                            pod->place == Place::kGone);
      const bool replaced =
          last[pod != nullptr ? pod->uid : "scheduler"] != record.sequence;
      const bool may_be_lost = newest >= 20 && (ended || replaced);
      EXPECT_TRUE(may_be_lost || got.contains(record.sequence));
      got.erase(record.sequence);
    }
    EXPECT_THAT(got, IsEmpty());  // the slow reader got only new records
  }
}

}  // namespace
}  // namespace minisched
