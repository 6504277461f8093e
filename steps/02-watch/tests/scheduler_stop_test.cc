// Tests how Run() ends.
#include <gtest/gtest.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "minisched/api/node.h"
#include "minisched/api/pod.h"
#include "minisched/base/fake_clock.h"
#include "scheduler.h"
#include "testing/scripted_cluster.h"

namespace minisched {
namespace {

// How long tests wait at most.
constexpr std::chrono::seconds kLongestStop{20};

// Blocks the thread that logs an error of an event handler, until the test lets
// it go on. Ignores the other messages.
class BlockingSink final
    : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  // Blocks until a thread is blocked. Returns false after kLongestStop.
  bool AwaitBlocked() {
    return blocked_.get_future().wait_for(kLongestStop) ==
           std::future_status::ready;
  }
  void GoOn() { go_on_.set_value(); }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const std::string text(message.payload.data(), message.payload.size());
    if (!text.starts_with("an event handler of pods failed")) return;
    blocked_.set_value();
    go_on_.get_future().wait();
  }
  void flush_() override {}

  std::promise<void> blocked_;
  std::promise<void> go_on_;
};

// Replaces the default logger by one with this sink.
class LogTo {
 public:
  explicit LogTo(spdlog::sink_ptr sink) {
    spdlog::set_default_logger(
        std::make_shared<spdlog::logger>("", std::move(sink)));
  }
  ~LogTo() { spdlog::set_default_logger(before_); }

  LogTo(const LogTo&) = delete;
  LogTo& operator=(const LogTo&) = delete;

 private:
  const std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
};

// After Run(), nothing that the handlers use changes any more.
TEST(SchedulerStopTest, RunWaitsForTheHandlerThatRuns) {
  const auto sink = std::make_shared<BlockingSink>();
  const LogTo log(sink);
  FakeClock clock;
  ScriptedCluster cluster(clock);
  Node node;
  node.metadata.name = "node-1";
  node.status.allocatable["pods"] = Quantity::FromValue(110);
  cluster.Add(node);
  Pod pod;
  pod.metadata.namespace_name = "default";
  pod.metadata.name = "first";
  pod.metadata.uid = "1";
  pod.spec.scheduler_name = "minisched";
  cluster.Add(pod);
  Client client(cluster.config());
  std::promise<void> bound;
  std::atomic<bool> disk_is_full = false;
  Trace trace("minisched", clock, {},
              [&](const auto&, Place place, const auto&) {
                if (disk_is_full) throw std::runtime_error("disk full");
                if (place == Place::kBound) bound.set_value();
              });
  Scheduler scheduler({client, "minisched", trace, {}}, {}, clock);
  std::promise<void> ended;
  std::jthread run([&](const std::stop_token& stop) {
    scheduler.Run(stop);
    ended.set_value();
  });
  // When a pod is bound, the scheduler has started.
  cluster.TakeBinding().reply.Send(201, R"({"kind":"Status"})");
  bound.get_future().wait();
  // The handler that adds the next pod fails, and its thread logs that.
  disk_is_full = true;
  pod.metadata.name = "second";
  pod.metadata.uid = "2";
  cluster.Send("ADDED", pod);
  EXPECT_TRUE(sink->AwaitBlocked());
  run.request_stop();
  auto end = ended.get_future();
  EXPECT_EQ(end.wait_for(std::chrono::milliseconds(200)),
            std::future_status::timeout);
  sink->GoOn();
  EXPECT_EQ(end.wait_for(kLongestStop), std::future_status::ready);
}

}  // namespace
}  // namespace minisched
