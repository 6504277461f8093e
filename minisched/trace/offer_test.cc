// Tests the functions that a scheduler offers to readers of its trace.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "minisched/base/fake_clock.h"
#include "minisched/base/mutex.h"
#include "minisched/trace/trace.h"
#include "minisched/trace/trace_testing.h"
#include "testing/waiting_thread.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Uids = std::vector<std::string>;

// Returns the first `count` of the uids, as a scheduler with this queue does.
QueueRecord FirstOf(const Uids& uids, std::size_t count) {
  QueueRecord queue{.active = uids, .length = uids.size()};
  if (count < queue.length) queue.active.resize(count);
  return queue;
}

class OfferTest : public ::testing::Test {
 protected:
  // Returns an offer of the order in active_.
  Trace::Offer OfferOrder() {
    return {trace_, [this](std::size_t n) { return FirstOf(active_, n); }};
  }

  // Calls ReportQueue() and returns the records since the last call.
  std::vector<std::string> Report() {
    trace_.ReportQueue();
    return Describe(reader_.Poll());
  }

  FakeClock clock_;
  Trace trace_{"minisched", clock_};
  TraceReader reader_{trace_};
  Uids active_;
};

TEST_F(OfferTest, RecordsTheOrderIfItHasChanged) {
  reader_.Poll();
  const Trace::Offer offer = OfferOrder();
  EXPECT_THAT(Report(), IsEmpty());  // activeQ is empty at first
  active_ = {"b", "a"};
  EXPECT_THAT(Report(), ElementsAre("queue b a, 2 pods"));
  EXPECT_THAT(Report(), IsEmpty());
  active_ = {"a", "b"};
  EXPECT_THAT(Report(), ElementsAre("queue a b, 2 pods"));
  active_ = {};
  EXPECT_THAT(Report(), ElementsAre("queue, 0 pods"));
}

TEST_F(OfferTest, RecordsAHundredPodsAndTheLength) {
  const Trace::Offer offer = OfferOrder();
  for (int i = 0; i < 101; ++i) active_.push_back(std::to_string(i));
  trace_.ReportQueue();
  auto queue = std::get<QueueRecord>(reader_.Poll().back()->state);
  EXPECT_THAT(queue.active, SizeIs(100));
  EXPECT_EQ(queue.active.back(), "99");
  EXPECT_EQ(queue.length, 101U);
  active_.pop_back();  // changes only the length
  trace_.ReportQueue();
  queue = std::get<QueueRecord>(reader_.Poll().back()->state);
  EXPECT_EQ(queue.length, 100U);
}

TEST_F(OfferTest, ActiveOrderReturnsTheOrderAndRecordsNothing) {
  active_ = {"c", "a", "b"};
  reader_.Poll();
  const Trace::Offer offer = OfferOrder();
  EXPECT_EQ(trace_.ActiveOrder(2), (QueueRecord{{"c", "a"}, 3}));
  EXPECT_EQ(trace_.ActiveOrder(9), (QueueRecord{{"c", "a", "b"}, 3}));
  EXPECT_THAT(reader_.Poll(), IsEmpty());
}

TEST_F(OfferTest, ALateReaderGetsTheLastOrder) {
  const Trace::Offer offer = OfferOrder();
  for (const char* uid : {"a", "b"}) {
    active_.emplace_back(uid);
    trace_.ReportQueue();
  }
  TraceReader late(trace_);
  EXPECT_THAT(Describe(late.Poll()),
              ElementsAre("scheduler", "queue a b, 2 pods"));
}

TEST_F(OfferTest, WithoutAnOfferThereIsNoOrder) {
  reader_.Poll();
  EXPECT_THAT(Report(), IsEmpty());
  EXPECT_FALSE(trace_.ReportQueue());
  active_ = {"a"};
  {
    const Trace::Offer offer = OfferOrder();
    EXPECT_THAT(Report(), SizeIs(1));
    EXPECT_TRUE(trace_.ReportQueue());
  }
  // The pods of a scheduler that has ended keep their last records.
  EXPECT_THAT(Report(), IsEmpty());
  EXPECT_EQ(trace_.ActiveOrder(9), QueueRecord());
}

TEST_F(OfferTest, TheNewestOfferCounts) {
  std::optional<Trace::Offer> first(std::in_place, trace_, [](std::size_t n) {
    return FirstOf({"first"}, n);
  });
  std::optional<Trace::Offer> second(std::in_place, trace_, [](std::size_t n) {
    return FirstOf({"second"}, n);
  });
  EXPECT_THAT(trace_.ActiveOrder(1).active, ElementsAre("second"));
  first.reset();
  EXPECT_THAT(trace_.ActiveOrder(1).active, ElementsAre("second"));
  second.reset();
  EXPECT_THAT(trace_.ActiveOrder(1).active, IsEmpty());
}

TEST_F(OfferTest, EndWaitCallsTheScheduler) {
  EXPECT_FALSE(trace_.EndWait("a", true));
  std::vector<std::string> calls;
  {
    const Trace::Offer offer(
        trace_, [](std::size_t) { return QueueRecord(); },
        [&](const std::string& uid, bool allow) {
          calls.push_back((allow ? "allow " : "reject ") + uid);
          return uid == "a";
        });
    EXPECT_TRUE(trace_.EndWait("a", true));
    EXPECT_TRUE(trace_.EndWait("a", false));
    EXPECT_FALSE(trace_.EndWait("b", true));
  }
  EXPECT_FALSE(trace_.EndWait("a", true));
  EXPECT_THAT(calls, ElementsAre("allow a", "reject a", "allow b"));
  const Trace::Offer without_permit = OfferOrder();
  EXPECT_FALSE(trace_.EndWait("a", true));
}

TEST_F(OfferTest, TheEndWaitsForACallUnderWay) {
  std::promise<void> called;
  std::promise<void> go_on;
  std::optional<Trace::Offer> offer(std::in_place, trace_, [&](std::size_t) {
    called.set_value();
    go_on.get_future().wait();
    return QueueRecord{.active = {"a"}, .length = 1};
  });
  const std::jthread report([&] { trace_.ReportQueue(); });
  called.get_future().wait();
  std::atomic<bool> ended = false;
  const WaitingThread end([&] {
    offer.reset();
    ended = true;
  });
  EXPECT_TRUE(end.AwaitSleep());
  EXPECT_FALSE(ended);
  go_on.set_value();
  EXPECT_TRUE(end.AwaitEnd());
  // The call's record is written before the end.
  EXPECT_EQ(Describe(*reader_.Poll().back()), "queue a, 1 pods");
}

// A scheduler reports moves under the lock that active_order takes.
TEST_F(OfferTest, ReadersMovesAndEndsOfOffersAtOnce) {
  Mutex queue;
  std::atomic<bool> done = false;
  const auto active_order = [&](std::size_t n) {
    MutexLock lock(queue);
    return FirstOf(active_, n);
  };
  const auto end_wait = [&](const std::string& uid, bool) {
    trace_.Moved(TracedPod(uid), Place::kAssumed);
    return true;
  };
  {
    const std::jthread scheduler([&] {
      for (int i = 0; i < 2'000; ++i) {
        MutexLock lock(queue);
        active_.assign(1, std::to_string(i));
        trace_.Moved(TracedPod(active_[0]), Place::kActive);
      }
      done = true;
    });
    const std::jthread reporter([&] {
      while (!done) trace_.ReportQueue();
    });
    const std::jthread ender([&] {
      while (!done) trace_.EndWait("a", true);
    });
    while (!done) {
      const Trace::Offer offer(trace_, active_order, end_wait);
      trace_.ActiveOrder(1);
    }
  }
  const Trace::Offer offer(trace_, active_order);
  trace_.ReportQueue();
  TraceReader late(trace_);
  EXPECT_THAT(Describe(late.Poll()), ::testing::Contains("queue 1999, 1 pods"));
}

}  // namespace
}  // namespace minisched
