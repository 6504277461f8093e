#include "minisched/events/event_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "minisched/api/json.h"
#include "minisched/base/fake_clock.h"
#include "minisched/events/events_testing.h"
#include "testing/embedded_server.h"

namespace minisched {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::AllOf;
using testing::EndsWith;
using testing::MatchesRegex;
using testing::SizeIs;
using testing::StartsWith;

using Counts = std::multiset<int>;

// A recorder and a server that stores its events. Only the test advances the
// clock.
class EventRecorderTest : public testing::Test {
 protected:
  std::vector<Event> Events() {
    std::vector<Event> events;
    for (const auto& event : reader_.List<Event>().items) {
      events.push_back(*event);
    }
    return events;
  }

  // How often each event has occurred.
  Counts CountsNow() {
    Counts counts;
    for (const Event& event : Events()) {
      counts.insert(event.series ? event.series->count : 1);
    }
    return counts;
  }

  // Blocks until the counts are these and the recorder has nothing to do now.
  void ExpectCounts(const Counts& counts) {
    const auto deadline = std::chrono::steady_clock::now() + seconds(20);
    while (CountsNow() != counts &&
           std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(milliseconds(1));
    }
    EventRecorderPeer::AwaitRest(*recorder_);
    EXPECT_EQ(CountsNow(), counts);
  }

  // Blocks until there are `count` events.
  void AwaitEvents(std::size_t count) {
    const auto deadline = std::chrono::steady_clock::now() + seconds(120);
    while (Events().size() < count &&
           std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(milliseconds(50));
    }
    ASSERT_THAT(Events(), SizeIs(count));
  }

  // Returns when all events are on the server.
  void Flush() { recorder_.reset(); }

  EmbeddedServer server_;
  Client reader_{server_.config()};
  FakeClock clock_;
  Client client_{server_.config(), clock_};
  std::optional<EventRecorder> recorder_{std::in_place, client_,
                                         "default-scheduler"};
};

TEST_F(EventRecorderTest, WritesAnEvent) {
  const ObjectReference node{"v1", "Node", "", "node-1", "uid-n"};
  recorder_->Eventf(PodReference("web-0"), node, "Normal", "Scheduled",
                    "Binding", "Successfully assigned web-0 to node-1");
  Flush();
  ASSERT_THAT(Events(), SizeIs(1));
  const Event event = Events()[0];
  EXPECT_THAT(event.metadata.name, MatchesRegex("web-0\\.[0-9a-f]{16}"));
  EXPECT_EQ(event.metadata.namespace_name, "default");
  EXPECT_EQ(event.event_time->time, clock_.WallNow());
  EXPECT_FALSE(event.series);
  EXPECT_EQ(event.reporting_controller, "default-scheduler");
  EXPECT_THAT(event.reporting_instance, StartsWith("default-scheduler-"));
  EXPECT_EQ(event.action, "Binding");
  EXPECT_EQ(event.reason, "Scheduled");
  EXPECT_EQ(event.regarding, PodReference("web-0"));
  EXPECT_EQ(event.related, node);
  EXPECT_EQ(event.note, "Successfully assigned web-0 to node-1");
  EXPECT_EQ(event.type, "Normal");
}

TEST_F(EventRecorderTest, ForgetsUnrepeatedSeriesFirst) {
  RecordFailed(*recorder_, "twice");
  RecordFailed(*recorder_, "once");
  ExpectCounts({1, 1});
  RecordFailed(*recorder_, "twice");
  ExpectCounts({1, 2});
  for (int i = 0; i < 1200; ++i) {
    clock_.Advance(milliseconds(1));
    RecordFailed(*recorder_, "pod-" + std::to_string(i));
    if (i % 400 == 399) AwaitEvents(i + 3);
  }
  RecordFailed(*recorder_, "once");
  RecordFailed(*recorder_, "twice");
  Flush();
  std::map<std::string, int> events;
  for (const Event& event : Events()) ++events[event.regarding.name];
  EXPECT_EQ(events["once"], 2);
  EXPECT_EQ(events["twice"], 1);
}

TEST_F(EventRecorderTest, AnObjectWithoutANamespaceHasItsEventsInDefault) {
  recorder_->Eventf({"v1", "Node", "", "node-1", "u"}, std::nullopt, "Normal",
                    "Seen", "Looking", "");
  Flush();
  ASSERT_THAT(Events(), SizeIs(1));
  EXPECT_EQ(Events()[0].metadata.namespace_name, "default");
  EXPECT_EQ(Events()[0].regarding.namespace_name, "");
}

TEST_F(EventRecorderTest, CutsOffALongNote) {
  RecordFailed(*recorder_, "a", std::string(1024, 'x'));
  RecordFailed(*recorder_, "b", std::string(1025, 'x'));
  // Each ü has two bytes. The cut must be between two of them.
  std::string umlauts = "x";
  for (int i = 0; i < 600; ++i) umlauts += "ü";
  RecordFailed(*recorder_, "c", umlauts);
  Flush();
  const auto events = Events();
  ASSERT_THAT(events, SizeIs(3));
  EXPECT_EQ(events[0].note, std::string(1024, 'x'));
  EXPECT_EQ(events[1].note, std::string(1020, 'x') + " ...");
  EXPECT_THAT(events[2].note, AllOf(SizeIs(1023), EndsWith("ü ...")));
}

TEST_F(EventRecorderTest, ReplacesANameThatIsTooLongOrInvalid) {
  RecordFailed(*recorder_, std::string(250, 'x'));
  RecordFailed(*recorder_, "system:node:a");
  Flush();
  const auto events = Events();
  ASSERT_THAT(events, SizeIs(2));
  for (const Event& event : events) {
    EXPECT_THAT(event.metadata.name,
                MatchesRegex("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"));
  }
}

TEST_F(EventRecorderTest, RepeatsBecomeASeries) {
  RecordFailed(*recorder_, "a");
  ExpectCounts({1});
  clock_.Advance(seconds(1));
  RecordFailed(*recorder_, "a");
  ExpectCounts({2});
  const Event event = Events()[0];
  EXPECT_EQ(event.event_time->time, clock_.WallNow() - seconds(1));
  EXPECT_EQ(event.series->last_observed_time->time, clock_.WallNow());

  // From now on, at most one write in 30 s.
  for (int i = 0; i < 100; ++i) RecordFailed(*recorder_, "a");
  // A write of "a" would be under way by now.
  clock_.Advance(seconds(29));
  RecordFailed(*recorder_, "b");
  ExpectCounts({1, 2});
  clock_.Advance(seconds(1));
  ExpectCounts({1, 102});
  EXPECT_EQ(Events()[0].metadata.name, event.metadata.name);
  EXPECT_EQ(Events()[0].event_time->time, event.event_time->time);
}

TEST_F(EventRecorderTest, ADifferentEventIsNoRepeat) {
  RecordFailed(*recorder_, "a");
  RecordFailed(*recorder_, "b");
  RecordFailed(*recorder_, "a", "another note");
  const auto a = PodReference("a");
  recorder_->Eventf(a, std::nullopt, "Normal", "FailedScheduling", "Scheduling",
                    "0/1 nodes are available");
  recorder_->Eventf(a, PodReference("b"), "Warning", "FailedScheduling",
                    "Scheduling", "0/1 nodes are available");
  Flush();
  EXPECT_EQ(CountsNow(), (Counts{1, 1, 1, 1, 1}));
}

TEST_F(EventRecorderTest, ASeriesEndsAfterSixQuietMinutes) {
  RecordFailed(*recorder_, "a");
  ExpectCounts({1});
  for (int count = 2; count <= 10; ++count) {
    clock_.Advance(minutes(6) - seconds(1));
    RecordFailed(*recorder_, "a");
    ExpectCounts({count});
  }
  clock_.Advance(minutes(6));
  RecordFailed(*recorder_, "a");
  ExpectCounts({1, 10});
}

TEST_F(EventRecorderTest, CreatesTheEventAgainIfTheServerDroppedIt) {
  RecordFailed(*recorder_, "a");
  ExpectCounts({1});
  const std::string name = Events()[0].metadata.name;
  reader_.Delete<Event>("default", name);
  RecordFailed(*recorder_, "a");
  ExpectCounts({2});
  EXPECT_EQ(Events()[0].metadata.name, name);
}

TEST_F(EventRecorderTest, WritesTheLastCountAtTheEnd) {
  for (int i = 0; i < 10; ++i) RecordFailed(*recorder_, "a");
  Flush();
  EXPECT_EQ(CountsNow(), Counts{10});
}

TEST_F(EventRecorderTest, CountsRepeatsFromManyThreads) {
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([this] {
        for (int j = 0; j < 200; ++j) {
          RecordFailed(*recorder_, "pod-" + std::to_string(j % 10));
        }
      });
    }
  }
  Flush();
  EXPECT_EQ(CountsNow(), Counts({80, 80, 80, 80, 80, 80, 80, 80, 80, 80}));
}

// More than the recorder writes at once, and more than client-go's queue holds.
TEST_F(EventRecorderTest, DropsNothingInABurst) {
  constexpr int kPods = 2500;
  for (int i = 0; i < kPods; ++i) {
    RecordFailed(*recorder_, "pod-" + std::to_string(i));
  }
  Flush();
  std::set<std::string> pods;
  for (const Event& event : Events()) pods.insert(event.regarding.name);
  EXPECT_THAT(pods, SizeIs(kPods));
}

}  // namespace
}  // namespace minisched
