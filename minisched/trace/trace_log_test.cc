#include "minisched/trace/trace_log.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/base_sink.h>

#include <chrono>
#include <cstddef>
#include <latch>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "minisched/base/fake_clock.h"
#include "minisched/base/log.h"
#include "minisched/trace/trace_testing.h"

namespace minisched {
namespace {

// Collects messages as "level message". Blocks a thread that logs a message
// with the text "hold" until Release().
class HoldingSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  HoldingSink() { set_pattern("%l %v"); }

  void AwaitHold() { holds_.wait(); }
  void Release() { released_.count_down(); }
  // Returns the messages so far. REQUIRES: no other thread logs.
  const std::string& text() const { return text_; }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    text_.append(line.data(), line.size());
    if (fmt::to_string(message.payload).find("hold") == std::string::npos) {
      return;
    }
    holds_.count_down();
    released_.wait();
  }
  void flush_() override {}

 private:
  std::string text_;
  std::latch holds_{1};
  std::latch released_{1};
};

class TraceLogTest : public ::testing::Test {
 protected:
  TraceLogTest() : logger_before_(spdlog::default_logger()) {
    auto logger = std::make_shared<spdlog::logger>("", sink_);
    logger->set_level(spdlog::level::trace);
    spdlog::set_default_logger(logger);
  }
  ~TraceLogTest() override { spdlog::set_default_logger(logger_before_); }

  void Move(const std::string& pod, Place place) {
    trace_.Moved(TracedPod(pod), place);
  }

  const std::shared_ptr<HoldingSink> sink_ = std::make_shared<HoldingSink>();
  const std::shared_ptr<spdlog::logger> logger_before_;
  FakeClock clock_;
  Trace trace_{"minisched", clock_, {.records = 3}};
  TraceReader reader_{trace_, AttemptDetail::kFirstRejections};
};

TEST_F(TraceLogTest, LogsEachAttemptOnceAsATable) {
  std::jthread log(
      [this](const std::stop_token& stop) { LogTrace(reader_, stop); });
  Move("hold", Place::kActive);
  sink_->AwaitHold();
  trace_.Tried([] {
    return Attempt{.pod = "shop/{}", .uid = "a", .number = 1, .failure = "{0"};
  });
  trace_.Tried([] { return Attempt{.uid = "a", .number = 1}; });
  log.request_stop();
  sink_->Release();
  log.join();
  EXPECT_EQ(sink_->text(),
            "trace shop/hold → active\n"
            "debug shop/{}, attempt 1: {0\n");
}

TEST_F(TraceLogTest, WarnsOfMissingRecords) {
  std::jthread log(
      [this](const std::stop_token& stop) { LogTrace(reader_, stop); });
  Move("hold", Place::kBound);
  sink_->AwaitHold();
  for (int i = 0; i < 10; ++i) Move("b", Place::kBound);
  log.request_stop();
  sink_->Release();
  log.join();
  EXPECT_EQ(sink_->text(),
            "trace shop/hold → bound\n"
            "warning the log of attempts is too slow: 7 records are missing\n"
            "trace shop/b → bound\n"
            "trace shop/b → bound\n"
            "trace shop/b → bound\n");
}

TEST_F(TraceLogTest, RecordsReplacedBeforeTheReaderStartsAreNotMissing) {
  for (const char* pod : {"a", "b{}", "c", "b{}"}) Move(pod, Place::kActive);
  TraceReader reader(trace_);
  LogTrace(reader, Stopped());
  EXPECT_EQ(sink_->text(),
            "trace shop/a → active\n"
            "trace shop/c → active\n"
            "trace shop/b{} → active\n");
}

TEST_F(TraceLogTest, LogsThePlaces) {
  LogPlaces(trace_);
  const std::string none = "info the pods of the scheduling queue:\n  none\n";
  EXPECT_EQ(sink_->text(), none);
  trace_.Moved(
      TracedPod("web{}"), Place::kUnschedulable,
      {.attempts = 2, .until = clock_.Now() + std::chrono::seconds(3)});
  clock_.Advance(std::chrono::seconds(1));
  LogPlaces(trace_);
  EXPECT_EQ(sink_->text(),
            none +
                "info the pods of the scheduling queue:\n"
                "  PLACE          POD         SINCE  UNTIL  ATTEMPTS  REASON\n"
                "  unschedulable  shop/web{}  1s     2s     2\n");
}

TEST_F(TraceLogTest, LogsThePlacesInTheOrderOfTheQueue) {
  for (const char* pod : {"a", "b"}) Move(pod, Place::kActive);
  const Trace::Offer offer(trace_, [](std::size_t) {
    return QueueRecord{{"b", "a"}, 2};
  });
  LogPlaces(trace_);
  EXPECT_EQ(sink_->text(),
            "info the pods of the scheduling queue:\n"
            "  PLACE   POD     SINCE  UNTIL  ATTEMPTS  REASON\n"
            "  active  shop/b  0s     -      0\n"
            "  active  shop/a  0s     -      0\n");
}

}  // namespace
}  // namespace minisched
