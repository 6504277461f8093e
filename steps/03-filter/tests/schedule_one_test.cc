// Tests changes while a pod is in flight, and errors after it is bound.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "minisched/api/json.h"
#include "minisched/base/fake_clock.h"
#include "scheduler.h"
#include "testing/scripted_cluster.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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

Pod PodWithUid(const std::string& name, const std::string& uid) {
  Pod pod;
  pod.metadata.namespace_name = "default";
  pod.metadata.name = name;
  pod.metadata.uid = uid;
  pod.metadata.resource_version = "1";
  pod.spec.scheduler_name = "minisched";
  return pod;
}

// A scheduler with one node and the pod web-0. Only tests advance its clock.
class ScheduleOneTest : public ::testing::Test {
 protected:
  ScheduleOneTest() {
    node_.metadata.name = "node-1";
    node_.metadata.resource_version = "1";
    node_.status.allocatable["pods"] = Quantity::FromValue(110);
    cluster_.Add(node_);
    cluster_.Add(web_);
  }
  ~ScheduleOneTest() override { stop_.request_stop(); }

  void Start() {
    client_ = std::make_unique<Client>(cluster_.config());
    scheduler_ = std::make_unique<Scheduler>(
        AppContext{*client_, "minisched", trace_, {}}, SchedulerOptions{},
        clock_);
    run_ = std::async(std::launch::async,
                      [this] { scheduler_->Run(stop_.get_token()); });
  }

  // Stops the scheduler and waits until its last event is written.
  void Stop() {
    stop_.request_stop();
    run_.wait();
    scheduler_.reset();
  }

  // Returns the uid of the pod in the next Binding.
  std::string TakeBinding() {
    binding_ = cluster_.TakeBinding();
    return FromJson<Binding>(binding_->request.body).metadata.uid;
  }

  // Does the same, and advances the clock meanwhile.
  std::string AwaitBinding() {
    const std::jthread time([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        clock_.Advance(std::chrono::milliseconds(100));
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
    return TakeBinding();
  }

  // Answers the Binding that TakeBinding() returned.
  void Succeed() { binding_->reply.Send(201, R"({"kind":"Status"})"); }
  void Fail() {
    binding_->reply.Send(
        504, R"({"kind":"Status","code":504,"message":"no quorum"})");
  }

  // Blocks until the scheduler has sent `count` writes other than Bindings.
  // Returns their bodies.
  std::vector<std::string> AwaitWrites(std::size_t count) {
    std::vector<std::string> bodies;
    for (const auto& request : cluster_.AwaitWrites(count)) {
      bodies.push_back(request.body);
    }
    return bodies;
  }

  Node node_;
  Pod web_ = PodWithUid("web-0", "old");
  FakeClock clock_;
  ScriptedCluster cluster_{clock_};

 private:
  std::optional<ScriptedApi::Exchange> binding_;
  std::unique_ptr<Client> client_;
  Trace trace_{"minisched", clock_};
  std::unique_ptr<Scheduler> scheduler_;
  std::stop_source stop_;

 protected:
  std::future<void> run_;  // last: Run() uses the other members
};

// The pod is bound, so another attempt would not help.
TEST_F(ScheduleOneTest, AnErrorAfterTheBindingIsNotASchedulingFailure) {
  const FailingLog log;
  Start();
  TakeBinding();
  Succeed();
  ASSERT_EQ(run_.wait_for(kLongestRun), std::future_status::ready);
  Stop();
  EXPECT_THROW(run_.get(), std::runtime_error);
  EXPECT_THAT(AwaitWrites(0), IsEmpty());
}

// The node becomes tainted, and only the updated pod tolerates the taint.
TEST_F(ScheduleOneTest, TheNextTryUsesTheUpdatedPod) {
  Start();
  TakeBinding();
  node_.spec.taints = {{.key = "gpu", .effect = "NoSchedule"}};
  cluster_.Send("MODIFIED", node_);
  web_.spec.tolerations = {{.key = "gpu", .operation = "Exists"}};
  cluster_.Send("MODIFIED", web_);
  Fail();
  EXPECT_EQ(AwaitBinding(), "old");
}

// The pod was bound by another scheduler, or by ours with an error as response.
TEST_F(ScheduleOneTest, ABoundPodIsNotReportedAsFailed) {
  Start();
  TakeBinding();
  web_.spec.node_name = "node-1";
  cluster_.Send("MODIFIED", web_);
  cluster_.Send("ADDED", PodWithUid("web-1", "next"));
  Fail();
  EXPECT_EQ(TakeBinding(), "next");
  Succeed();
  EXPECT_THAT(AwaitWrites(1), ElementsAre(HasSubstr("Successfully assigned")));
}

TEST_F(ScheduleOneTest, AFailureDoesNotTouchANewPodOfTheSameName) {
  Start();
  TakeBinding();
  cluster_.Send("DELETED", web_);
  cluster_.Send("ADDED", PodWithUid("web-0", "new"));
  Fail();
  EXPECT_EQ(TakeBinding(), "new");
  Succeed();
  EXPECT_THAT(AwaitWrites(1), ElementsAre(HasSubstr("Successfully assigned")));
}

}  // namespace
}  // namespace minisched
