// Tests errors after a pod is bound.
#include <gtest/gtest.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>

#include "minisched/base/fake_clock.h"
#include "scheduler.h"
#include "testing/scripted_cluster.h"

namespace minisched {
namespace {

// How long tests wait at most.
constexpr std::chrono::seconds kLongestRun{20};

// Throws when the scheduler logs that a pod is bound.
class FailingSink final : public spdlog::sinks::base_sink<std::mutex> {
  void sink_it_(const spdlog::details::log_msg& message) override {
    const std::string text(message.payload.data(), message.payload.size());
    if (text.starts_with("bound ")) throw std::runtime_error("disk full");
  }
  void flush_() override {}
};

// Replaces the default logger with one that rethrows exceptions of its sink.
class FailingLog {
 public:
  FailingLog() {
    auto logger =
        std::make_shared<spdlog::logger>("", std::make_shared<FailingSink>());
    logger->set_error_handler(
        [](const std::string& error) { throw std::runtime_error(error); });
    spdlog::set_default_logger(logger);
  }
  ~FailingLog() { spdlog::set_default_logger(before_); }

  FailingLog(const FailingLog&) = delete;
  FailingLog& operator=(const FailingLog&) = delete;

 private:
  const std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
};

// The pod is bound, so another attempt would not help.
TEST(ScheduleOneTest, AnErrorAfterTheBindingIsNotASchedulingFailure) {
  const FailingLog log;
  FakeClock clock;
  ScriptedCluster cluster(clock);
  Node node;
  node.metadata.name = "node-1";
  node.status.allocatable["pods"] = Quantity::FromValue(110);
  cluster.Add(node);
  Pod pod;
  pod.metadata.namespace_name = "default";
  pod.metadata.name = "web-0";
  pod.metadata.uid = "1";
  pod.spec.scheduler_name = "minisched";
  cluster.Add(pod);

  Client client(cluster.config());
  Trace trace("minisched", clock);
  Scheduler scheduler({client, "minisched", trace, {}}, {}, clock);
  std::stop_source stop;
  auto run =
      std::async(std::launch::async, [&] { scheduler.Run(stop.get_token()); });
  cluster.TakeBinding().reply.Send(201, R"({"kind":"Status"})");
  const auto ended = run.wait_for(kLongestRun);
  stop.request_stop();
  EXPECT_EQ(ended, std::future_status::ready);
  EXPECT_THROW(run.get(), std::runtime_error);
}

}  // namespace
}  // namespace minisched
