// Runs writers, readers, changes of the pace and a stop at the same time, for
// ThreadSanitizer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "minisched/trace/trace.h"
#include "minisched/trace/trace_testing.h"

namespace minisched {
namespace {

constexpr int kPods = 300;

// Moves pods and reports their attempts. At the end, every hundredth pod is
// unschedulable and the other pods are bound.
void Write(Trace& trace, const std::string& writer) {
  for (int i = 0; i < kPods; ++i) {
    const Pod pod = TracedPod(writer + std::to_string(i));
    trace.Moved(pod, Place::kActive);
    trace.Moved(pod, Place::kInFlight, {.until = Clock::TimePoint()});
    for (int report = 0; report < 2; ++report) {
      trace.Tried([&] {
        return Attempt{.uid = pod.metadata.uid,
                       .number = 1,
                       .fits = std::vector<std::string>(5),
                       .all_rejections = trace.wants_all_rejections()};
      });
    }
    trace.Moved(pod, i % 100 == 0 ? Place::kUnschedulable : Place::kBound);
  }
}

// Reads the trace until `stop` asks to stop, and returns the pods that are
// unschedulable at the end.
std::map<std::string, Place> Follow(Trace& trace, AttemptDetail detail,
                                    const std::stop_token& stop) {
  TraceReader reader(trace, detail);
  std::map<std::string, Place> places;
  std::uint64_t sequence = 0;
  while (true) {
    const auto records = reader.Next(stop);
    if (records.empty()) break;
    for (const RecordPtr& record : records) {
      EXPECT_LT(sequence, record->sequence);
      sequence = record->sequence;
      if (const auto* pod = std::get_if<PodRecord>(&record->state)) {
        places[pod->uid] = pod->place;
      }
    }
  }
  std::erase_if(places, [](const auto& pod) {
    return pod.second != Place::kUnschedulable;
  });
  return places;
}

// Pauses, steps and resumes the scheduler many times, and sometimes stops a
// thread that may wait for a step or a record.
void ChangePace(Trace& trace) {
  for (int i = 0; i < kPods; ++i) {
    trace.Pause();
    trace.Step();
    trace.Resume();
    TraceReader reader(trace, AttemptDetail::kAllRejections);
    trace.Step();
    if (i % 10 != 0) continue;
    std::stop_source stop;
    const std::jthread stopped([&] {
      trace.Paced([] { return std::optional(1); }, stop.get_token());
      reader.Next(stop.get_token());
    });
    stop.request_stop();
  }
}

TEST(TraceStressTest, WritersReadersPaceAndStopAtOnce) {
  Trace trace("minisched", RealClock(), {.records = 100, .attempts = 10});
  std::stop_source stop;
  std::atomic<int> popped = 0;
  std::vector<std::map<std::string, Place>> seen(3);
  {
    std::jthread loop([&] {
      const auto pop = [] { return std::optional(1); };
      while (trace.Paced(pop, stop.get_token())) ++popped;
    });
    std::vector<std::jthread> readers;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      readers.emplace_back([&, i] {
        seen[i] =
            Follow(trace, static_cast<AttemptDetail>(i), stop.get_token());
      });
    }
    {
      std::jthread a([&] { Write(trace, "a"); });
      std::jthread b([&] { Write(trace, "b"); });
      std::jthread pace([&] { ChangePace(trace); });
    }
    trace.Resume();
    while (popped == 0) std::this_thread::yield();
    trace.Pause();
    stop.request_stop();
  }
  const std::map<std::string, Place> expected = {
      {"a0", Place::kUnschedulable},   {"a100", Place::kUnschedulable},
      {"a200", Place::kUnschedulable}, {"b0", Place::kUnschedulable},
      {"b100", Place::kUnschedulable}, {"b200", Place::kUnschedulable}};
  EXPECT_THAT(seen, ::testing::Each(expected));
}

TEST(TraceStressTest, ReturnsOneRecordOfAPodThatMoves) {
  Trace trace("minisched", RealClock(), {.records = 2});
  const Pod pod = TracedPod("a");
  trace.Moved(pod, Place::kActive);
  std::atomic<bool> done = false;
  const std::jthread mover([&] {
    for (int i = 0; i < 20'000; ++i) {
      trace.Moved(pod, Place::kInFlight);
      trace.Moved(pod, Place::kActive);
    }
    done = true;
  });
  while (!done) ASSERT_EQ(trace.LastOfEachPod().size(), 1U);
}

}  // namespace
}  // namespace minisched
