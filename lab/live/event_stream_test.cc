#include "lab/live/event_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "lab/live/live_testing.h"
#include "minisched/base/fake_clock.h"

namespace minisched::live {
namespace {

using std::chrono::seconds;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class EventStreamTest : public ::testing::Test {
 protected:
  void Connect(const std::string& last_id = "") {
    stream_ = std::make_unique<EventStream>(
        history_,
        EventStream::Options{.boot = "b",
                             .last_id = last_id,
                             .start = [] { return "{}"; },
                             .on_end = [this](EventStream*) { ++ended_; }},
        clock_);
    stream_->on_ready = [this] { ++ready_; };
  }

  std::string Read() {
    std::string text;
    EXPECT_TRUE(stream_->Read(text));
    return text;
  }
  // Returns the next events as "type id data", one a line.
  std::string ReadEvents() {
    std::string all;
    for (const SentEvent& event : ParseEvents(Read())) {
      all += event.type + " " + event.id + " " + event.data + "\n";
    }
    return all;
  }

  void Add(const std::string& json) {
    history_.Add({{.key = "/x", .json = json}});
  }

  FakeClock clock_;
  History history_{1 << 16};
  int ready_ = 0;
  int ended_ = 0;
  std::unique_ptr<EventStream> stream_;
};

TEST_F(EventStreamTest, StartsWithTheBaseAndSendsItems) {
  Add("1");
  Connect();
  EXPECT_EQ(ReadEvents(), "start  {}\nbase b.0 []\nmessage b.1 [1]\n");
  EXPECT_EQ(ReadEvents(), "");
  Add("2");
  Add("3");
  EXPECT_EQ(ReadEvents(), "message b.3 [2,3]\n");
}

TEST_F(EventStreamTest, OnlyTheLastPartOfTheBaseHasAnId) {
  History history(2'000'000);
  for (int i = 0; i < 1'500; ++i) {
    history.Add({{.key = std::to_string(i) + "/x", .json = "1"}});
  }
  for (int i = 0; i < 20'000; ++i) history.Add({{.key = "/y", .json = "2"}});
  EventStream stream(history, {.boot = "b", .start = [] { return "{}"; }},
                     clock_);
  std::string text;
  stream.Read(text);
  const auto events = ParseEvents(text);
  ASSERT_GE(events.size(), 3U);
  EXPECT_EQ(events[0].type + events[1].type + events[2].type, "startbasebase");
  EXPECT_EQ(events[0].id + events[1].id, "");
  EXPECT_EQ(events[2].id, "b." + std::to_string(history.GetBase().end));
}

TEST_F(EventStreamTest, ResumesBehindTheLastEvent) {
  Add("1");
  Add("2");
  Connect("b.1");
  EXPECT_EQ(ReadEvents(), "resume b.1 {}\nmessage b.2 [2]\n");
  Connect("b.2");
  EXPECT_EQ(ReadEvents(), "resume b.2 {}\n");
}

TEST_F(EventStreamTest, StartsAgainIfItCannotResume) {
  Add("1");
  for (const char* id : {"b.2", "a.1", "b.", "b.x", "b.1x", "b", "b.-1", "1"}) {
    Connect(id);
    EXPECT_TRUE(ReadEvents().starts_with("start  {}\nbase b.0 []\n")) << id;
  }
  Connect("b.1");
  history_.Clear();  // before the first read
  EXPECT_TRUE(ReadEvents().ends_with("start  {}\nbase b.2 []\n"));
}

TEST_F(EventStreamTest, StartsAgainIfThePageIsTooSlow) {
  Connect();
  ReadEvents();
  for (int i = 0; i < 1'000; ++i) Add(std::string(100, '1'));
  const auto events = ParseEvents(Read());
  ASSERT_THAT(events, SizeIs(::testing::Ge(3U)));
  EXPECT_EQ(events[0].type, "start");
  EXPECT_EQ(events[1].data, "[" + std::string(100, '1') + "]");
  EXPECT_EQ(events.back().id, "b.1000");
}

TEST_F(EventStreamTest, WakesOnlyForItemsAndForTheComment) {
  Connect();
  stream_->Wake();
  EXPECT_EQ(ready_, 1);
  Read();
  stream_->Wake();
  EXPECT_EQ(ready_, 1);
  Add("1");
  stream_->Wake();
  EXPECT_EQ(ready_, 2);
  Read();
  clock_.Advance(seconds(14));
  stream_->Wake();
  EXPECT_EQ(ready_, 2);
  EXPECT_THAT(Read(), IsEmpty());
  clock_.Advance(seconds(1));
  stream_->Wake();
  EXPECT_EQ(ready_, 3);
  EXPECT_EQ(Read()[0], ':');
  EXPECT_THAT(Read(), IsEmpty());
}

TEST_F(EventStreamTest, ReportsItsEnd) {
  Connect();
  stream_.reset();
  EXPECT_EQ(ended_, 1);
}

}  // namespace
}  // namespace minisched::live
