// Tests changes while a pod is in flight or assumed, and errors after it is
// bound.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "minisched/api/json.h"
#include "minisched/base/fake_clock.h"
#include "scheduler.h"
#include "testing/scripted_cluster.h"

namespace minisched {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
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
  explicit ScheduleOneTest(int allowed_pods = 110) {
    node_.metadata.name = "node-1";
    node_.metadata.resource_version = "1";
    node_.status.allocatable["pods"] = Quantity::FromValue(allowed_pods);
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
  Trace trace_{"minisched", clock_};

 private:
  std::optional<ScriptedApi::Exchange> binding_;
  std::unique_ptr<Client> client_;
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

// The node has room for one pod.
class AssumedPodTest : public ScheduleOneTest {
 protected:
  AssumedPodTest() : ScheduleOneTest(/*allowed_pods=*/1) {}

  // Blocks until the trace has the pod at this place. Returns the places of all
  // pods since the last call, by uid, with their nodes: "assumed node-1".
  std::map<std::string, std::vector<std::string>> PlacesUntil(
      const std::string& uid, Place last) {
    const auto deadline = std::chrono::steady_clock::now() + kLongestRun;
    std::map<std::string, std::vector<std::string>> places;
    while (std::chrono::steady_clock::now() < deadline) {
      bool found = false;
      for (const RecordPtr& record : reader_.Poll()) {
        const auto* pod = std::get_if<PodRecord>(&record->state);
        if (pod == nullptr) continue;
        std::string place(PlaceName(pod->place));
        if (!pod->move.node.empty()) place += " " + pod->move.node;
        places[pod->uid].push_back(place);
        found = found || (pod->uid == uid && pod->place == last);
      }
      if (found) return places;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ADD_FAILURE() << uid << " isn't " << PlaceName(last);
    return places;
  }

  // Does the same and returns the places of this pod.
  std::vector<std::string> AwaitPlace(const std::string& uid, Place last) {
    return PlacesUntil(uid, last)[uid];
  }

  const Pod next_ = PodWithUid("web-1", "next");

 private:
  TraceReader reader_{trace_};
};

TEST_F(AssumedPodTest, IsBoundWhenTheBindingSucceeds) {
  Start();
  TakeBinding();
  Succeed();
  EXPECT_THAT(
      AwaitPlace("old", Place::kBound),
      ElementsAre("active", "in flight", "assumed node-1", "bound node-1"));
}

TEST_F(AssumedPodTest, BacksOffWhenTheBindingFails) {
  Start();
  TakeBinding();
  Fail();
  EXPECT_THAT(AwaitPlace("old", Place::kBackoff),
              ElementsAre("active", "in flight", "assumed node-1", "backoff"));
}

TEST_F(AssumedPodTest, GivesItsRoomBackWhenTheBindingFails) {
  Start();
  TakeBinding();
  cluster_.Send("ADDED", next_);
  Fail();
  EXPECT_EQ(TakeBinding(), "next");
}

// The forgotten pod can be assumed again.
TEST_F(AssumedPodTest, IsTriedAgainAfterTheBindingFails) {
  Start();
  TakeBinding();
  Fail();
  EXPECT_EQ(AwaitBinding(), "old");
  Succeed();
  AwaitPlace("old", Place::kBound);
}

TEST_F(AssumedPodTest, CountsUntilTheInformerReportsTheBinding) {
  Start();
  TakeBinding();
  Succeed();
  cluster_.Send("ADDED", next_);
  AwaitPlace("next", Place::kUnschedulable);
  // "Scheduled" of the first pod, then an event and a condition of the other.
  EXPECT_THAT(AwaitWrites(3),
              Contains(HasSubstr("0/1 nodes are available: 1 Too many pods.")));
  web_.spec.node_name = "node-1";
  cluster_.Send("MODIFIED", web_);
  cluster_.Send("ADDED", PodWithUid("web-2", "third"));
  AwaitPlace("third", Place::kUnschedulable);
  cluster_.Send("DELETED", web_);
  EXPECT_THAT(AwaitBinding(), AnyOf("next", "third"));
}

TEST_F(AssumedPodTest, IsNotTriedWhenAnUpdateArrivesDuringTheBinding) {
  Start();
  TakeBinding();
  web_.metadata.labels["colour"] = "red";
  cluster_.Send("MODIFIED", web_);
  cluster_.Send("ADDED", next_);
  Succeed();
  EXPECT_THAT(
      PlacesUntil("next", Place::kUnschedulable)["old"],
      ElementsAre("active", "in flight", "assumed node-1", "bound node-1"));
}

TEST_F(AssumedPodTest, IsNotQueuedWhenAnUpdateArrivesAfterTheBinding) {
  Start();
  TakeBinding();
  Succeed();
  AwaitWrites(1);  // the pod is no longer in flight
  AwaitPlace("old", Place::kBound);
  web_.metadata.labels["colour"] = "red";
  cluster_.Send("MODIFIED", web_);
  cluster_.Send("ADDED", next_);
  auto places = PlacesUntil("next", Place::kUnschedulable);
  EXPECT_THAT(places["next"],
              ElementsAre("active", "in flight", "unschedulable"));
  EXPECT_THAT(places["old"], IsEmpty());
}

TEST_F(AssumedPodTest, IsForgottenWhenDeletedBeforeTheBindingFails) {
  Start();
  TakeBinding();
  cluster_.Send("DELETED", web_);
  cluster_.Send("ADDED", next_);
  Fail();
  EXPECT_EQ(TakeBinding(), "next");
}

// The informer receives the deletion before the scheduler receives the response
// to the Binding. It has never seen the pod's node.
TEST_F(AssumedPodTest, IsRemovedWhenDeletedBeforeTheBindingSucceeds) {
  Start();
  TakeBinding();
  cluster_.Send("DELETED", web_);
  cluster_.Send("ADDED", next_);
  Succeed();
  EXPECT_EQ(TakeBinding(), "next");
}

}  // namespace
}  // namespace minisched
