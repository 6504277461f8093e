// Tests where a reader of a trace begins.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "minisched/base/fake_clock.h"
#include "minisched/trace/trace.h"
#include "minisched/trace/trace_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class TraceReaderTest : public ::testing::Test {
 protected:
  static void Move(Trace& trace, const std::string& pod, Place place) {
    trace.Moved(TracedPod(pod), place);
  }

  FakeClock clock_;
  Trace trace_{"minisched", clock_};
};

TEST_F(TraceReaderTest, BeginsAtTheOldestRecord) {
  Move(trace_, "a", Place::kActive);
  Move(trace_, "a", Place::kInFlight);
  Move(trace_, "b", Place::kActive);
  Move(trace_, "a", Place::kBound);
  TraceReader reader(trace_, AttemptDetail::kNone, TraceStart::kOldest);
  Move(trace_, "b", Place::kInFlight);
  EXPECT_THAT(Describe(reader.Poll()),
              ElementsAre("scheduler", "a active", "a in flight", "b active",
                          "a bound", "b in flight"));
  EXPECT_THAT(reader.Poll(), IsEmpty());
}

TEST_F(TraceReaderTest, RecordsRemovedBeforeTheReaderStartsAreNotMissing) {
  Trace small("minisched", clock_, {.records = 2});
  Move(small, "pending", Place::kActive);
  for (const char* pod : {"a", "b", "c"}) Move(small, pod, Place::kBound);
  TraceReader reader(small, AttemptDetail::kNone, TraceStart::kOldest);
  EXPECT_THAT(Describe(reader.Poll()),
              ElementsAre("scheduler", "pending active", "b bound", "c bound"));
  EXPECT_EQ(reader.missing(), 0U);
}

TEST_F(TraceReaderTest, FindsTheLastRecordOfAnAttempt) {
  const TraceReader reader(trace_, AttemptDetail::kFirstRejections);
  const auto report = [this](const std::string& uid, const std::string& node) {
    trace_.Tried(
        [&] { return Attempt{.uid = uid, .number = 1, .node = node}; });
  };
  report("a", "");
  report("b", "node-2");
  report("a", "node-1");
  const RecordPtr found = trace_.FindAttempt("a", 1);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(std::get<Attempt>(found->state).node, "node-1");
  EXPECT_EQ(std::get<Attempt>(found->state).reports, 2);
  EXPECT_EQ(trace_.FindAttempt("a", 2), nullptr);
  EXPECT_EQ(trace_.FindAttempt("c", 1), nullptr);
}

}  // namespace
}  // namespace minisched
