// Tests that a real API server accepts our events.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "minisched/api/event.h"
#include "minisched/client/client.h"
#include "minisched/events/event_recorder.h"
#include "testing/real_cluster.h"

namespace minisched {
namespace {

using testing::EndsWith;
using testing::SizeIs;

class EventRecorderRealTest : public RealClusterTest {
 protected:
  // Records the same event of the same pod each time.
  void Record(EventRecorder& recorder, const std::string& note) {
    recorder.Eventf({"v1", "Pod", namespace_name(), "web-0", "uid"},
                    std::nullopt, "Warning", "FailedScheduling", "Scheduling",
                    note);
  }

  std::vector<Event> Events() {
    Client client(admin());
    std::vector<Event> events;
    for (const auto& event :
         client.List<Event>({.namespace_name = namespace_name()}).items) {
      events.push_back(*event);
    }
    return events;
  }
};

TEST_F(EventRecorderRealTest, WritesEventsAndSeries) {
  Client client(admin());
  {
    EventRecorder recorder(client, "minisched");
    Record(recorder, "0/1 nodes are available");
    // Wait until the event exists, so that the next write is a patch.
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (Events().empty() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    Record(recorder, "0/1 nodes are available");
  }
  const auto events = Events();
  ASSERT_THAT(events, SizeIs(1));
  ASSERT_TRUE(events[0].series);
  EXPECT_EQ(events[0].series->count, 2);
  EXPECT_EQ(events[0].note, "0/1 nodes are available");
}

TEST_F(EventRecorderRealTest, CutsOffALongNote) {
  Client client(admin());
  {
    EventRecorder recorder(client, "minisched");
    Record(recorder, std::string(2000, 'x'));
  }
  const auto events = Events();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_THAT(events[0].note, EndsWith("x ..."));
}

// The event repeats before its first write.
TEST_F(EventRecorderRealTest, CreatesASeries) {
  Client client(admin());
  {
    EventRecorder recorder(client, "minisched");
    for (int i = 0; i < 5; ++i) Record(recorder, "again and again");
  }
  const auto events = Events();
  ASSERT_THAT(events, SizeIs(1));
  ASSERT_TRUE(events[0].series);
  EXPECT_EQ(events[0].series->count, 5);
}

}  // namespace
}  // namespace minisched
