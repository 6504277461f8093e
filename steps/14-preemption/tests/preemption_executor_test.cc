#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cache/cache.h"
#include "framework/waiting_pods.h"
#include "minisched/api/conditions.h"
#include "minisched/api/event.h"
#include "minisched/base/executor.h"
#include "minisched/base/fake_clock.h"
#include "minisched/events/event_recorder.h"
#include "minisched/informer/shared_informer_factory.h"
#include "preemption/executor.h"
#include "testing/embedded_server.h"
#include "tests/handle_testing.h"
#include "tests/preemption_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr char kVictim[] = R"(---
{apiVersion: v1, kind: Pod, metadata: {name: NAME, finalizers: [a.b/c]},
 spec: {nodeName: node-1, containers: [{name: c, image: i}]}}
)";

std::string Victims(const std::vector<std::string>& names) {
  std::string yaml;
  for (const std::string& name : names) {
    std::string one = kVictim;
    one.replace(one.find("NAME"), 4, name);
    yaml += one;
  }
  return yaml;
}

// An executor, and an API server. The victims have finalizers, so they stay
// when they are deleted.
class PreemptionExecutorTest : public ::testing::Test {
 protected:
  ~PreemptionExecutorTest() override {
    stop_.request_stop();
    under_way_.WaitUntil(RealClock(), Clock::TimePoint::max());
    timers_.Drain(Clock::TimePoint::max());
  }

  void Start(const std::vector<std::string>& victims,
             const std::string& faults = "") {
    server_ = std::make_unique<EmbeddedServer>(Victims(victims));
    if (!faults.empty()) server_->server().SetFaults(faults);
    client_ = std::make_unique<Client>(server_->config());
    recorder_ = std::make_unique<EventRecorder>(*client_, "minisched");
    informers_ = std::make_unique<SharedInformerFactory>(*client_);
    const auto registration = informers_->Of<Pod>().AddEventHandler(
        {.on_add = [this](const PodPtr& pod, bool) { cache_.AddPod(pod); },
         .on_update =
             [this](const PodPtr&, const PodPtr& pod) {
               if (!handlers_lag_) cache_.UpdatePod(pod);
             },
         .on_delete =
             [this](const PodPtr& pod) {
               if (!handlers_lag_) cache_.RemovePod(*pod);
             }});
    informers_->Start(stop_.get_token());
    ASSERT_TRUE(registration.WaitForSync({}));
    executor_ = std::make_unique<PreemptionExecutor>(
        NewHandle(snapshot_,
                  {.informers = *informers_,
                   .client = *client_,
                   .waiting_pods = waiting_pods_,
                   .executor = timers_,
                   .cache = cache_,
                   .recorder = *recorder_,
                   .under_way = under_way_,
                   .stop = stop_.get_token(),
                   .retry = [this](const PodPtr& pod) { Retry(*pod); }}),
        "DefaultPreemption");
    Candidate candidate{.node_name = "node-1"};
    for (const std::string& name : victims) {
      auto victim = std::make_shared<Pod>(*client_->Get<Pod>("default", name));
      if (!rename_.empty()) victim->metadata.name = rename_;
      candidate.victims.push_back(std::move(victim));
    }
    victim_ = candidate.victims[0];
    before_();
    executor_->PrepareCandidateAsync(candidate, urgent_);
  }

  bool IsRunning() const { return executor_->IsPodRunningPreemption("urgent"); }

  bool IsEnding(const std::string& pod) {
    return client_->Get<Pod>("default", pod)
        ->metadata.deletion_timestamp.has_value();
  }

  void AwaitThat(const std::function<bool()>& done) {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  void AwaitEnd() {
    under_way_.WaitUntil(RealClock(),
                         RealClock().Now() + std::chrono::seconds(20));
  }

  std::vector<std::string> retried() EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return retried_;
  }

  // Returns the notes of the events.
  std::vector<std::string> Notes() {
    std::vector<std::string> notes;
    for (const auto& event : client_->List<Event>().items) {
      EXPECT_EQ(event->reason, "Preempted");
      EXPECT_EQ(event->related->name, "urgent");
      notes.push_back(event->regarding.name + ": " + event->note);
    }
    return notes;
  }

  std::string rename_;  // the name that the scheduler sees
  PodPtr victim_;       // the first one
  // Called after the informers have read the victims.
  std::function<void()> before_ = [] {};
  // The cache receives no update and no deletion.
  std::atomic<bool> handlers_lag_ = false;
  FakeClock clock_;
  Cache cache_;
  Snapshot snapshot_;
  std::stop_source stop_;
  WaitGroup under_way_;
  Executor timers_{1, clock_};
  WaitingPods waiting_pods_{timers_};
  PodPtr urgent_ = std::make_shared<const Pod>(NewPodOf("urgent"));
  std::unique_ptr<EmbeddedServer> server_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<EventRecorder> recorder_;
  std::unique_ptr<SharedInformerFactory> informers_;
  std::unique_ptr<PreemptionExecutor> executor_;

 private:
  void Retry(const Pod& pod) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    retried_.push_back(pod.metadata.name);
  }

  Mutex mu_;
  std::vector<std::string> retried_ GUARDED_BY(mu_);
};

TEST_F(PreemptionExecutorTest, DeletesAllVictimsAndReportsEach) {
  Start({"a", "b", "c"});
  AwaitEnd();
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_TRUE(IsEnding(name));
    const auto pod = client_->Get<Pod>("default", name);
    const Condition* why =
        FindCondition(pod->status.conditions, "DisruptionTarget");
    ASSERT_NE(why, nullptr);
    EXPECT_EQ(why->reason, "PreemptionByScheduler");
    EXPECT_EQ(why->message,
              "minisched: preempting to accommodate a higher priority pod");
  }
  AwaitThat([this] { return Notes().size() == 3; });
  EXPECT_THAT(Notes(), UnorderedElementsAre(
                           "a: Preempted by pod urgent on node node-1",
                           "b: Preempted by pod urgent on node node-1",
                           "c: Preempted by pod urgent on node node-1"));
  AwaitThat([this] { return !IsRunning(); });
  EXPECT_THAT(retried(), IsEmpty());
}

TEST_F(PreemptionExecutorTest, ThePreemptorWaitsAsLongAsARequestHangs) {
  Start({"a"}, "faults: [{match: {verbs: [delete]}, hang: before}]");
  EXPECT_TRUE(IsRunning());
  EXPECT_FALSE(executor_->IsPodRunningPreemption("another"));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_TRUE(IsRunning());
}

// The response is late, but the cache shows that the deletion has begun.
TEST_F(PreemptionExecutorTest, ThePreemptorNeedsNoResponse) {
  Start({"a"}, "faults: [{match: {verbs: [delete]}, hang: after}]");
  AwaitThat([this] { return !IsRunning(); });
  EXPECT_TRUE(IsEnding("a"));
}

TEST_F(PreemptionExecutorTest, TheLastVictimWaitsForTheOthers) {
  Start({"a", "b", "c"},
        "faults: [{match: {verbs: [delete], name: a}, hang: before}]");
  AwaitThat([this] { return IsEnding("b"); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(IsEnding("c"));
  EXPECT_TRUE(IsRunning());
}

TEST_F(PreemptionExecutorTest, AFailureSparesTheLastVictim) {
  Start({"a", "b", "c"},
        "faults: [{match: {verbs: [delete], name: b}, error: {code: 403}}]");
  AwaitEnd();
  EXPECT_TRUE(IsEnding("a"));
  EXPECT_FALSE(IsEnding("c"));
  AwaitThat([this] { return !IsRunning(); });
  EXPECT_THAT(retried(), ElementsAre("urgent"));
}

// Otherwise the preemptor could be tried while "a" doesn't seem to end.
TEST_F(PreemptionExecutorTest, AfterAFailureTheOtherVictimsAreStillAwaited) {
  handlers_lag_ = true;
  Start({"a", "b", "c"},
        "faults: [{match: {verbs: [delete], name: b}, error: {code: 403}}]");
  AwaitEnd();
  EXPECT_THAT(retried(), ElementsAre("urgent"));
  EXPECT_TRUE(IsRunning());
  cache_.UpdatePod(client_->Get<Pod>("default", "a"));
  EXPECT_FALSE(IsRunning());
}

TEST_F(PreemptionExecutorTest, AFailureOfThePatchSparesTheVictim) {
  Start({"a"}, "faults: [{match: {verbs: [patch]}, error: {code: 403}}]");
  AwaitEnd();
  EXPECT_FALSE(IsEnding("a"));
  EXPECT_FALSE(IsRunning());
  EXPECT_THAT(retried(), ElementsAre("urgent"));
}

TEST_F(PreemptionExecutorTest, AVictimWithAnImpossibleNameIsAFailure) {
  rename_ = "a/b";
  Start({"a"});
  AwaitEnd();
  EXPECT_FALSE(IsRunning());
  EXPECT_THAT(retried(), ElementsAre("urgent"));
}

// What the cache still has, the next attempt would take for a pod that stays.
TEST_F(PreemptionExecutorTest, ThePreemptorWaitsUntilTheCacheHasLostTheVictim) {
  handlers_lag_ = true;
  before_ = [this] {
    client_->Patch<Pod>("default", "a", PatchType::kMerge,
                        R"({"metadata":{"finalizers":null}})");
    client_->Delete<Pod>("default", "a", {.grace_period_seconds = 0});
  };
  Start({"a"});
  AwaitEnd();
  EXPECT_TRUE(IsRunning());
  EXPECT_THAT(retried(), IsEmpty()) << "the deletion will wake the preemptor";
  cache_.RemovePod(*victim_);
  EXPECT_FALSE(IsRunning());
}

// Somebody else has begun to delete the victim.
TEST_F(PreemptionExecutorTest, ThePreemptorWaitsForTheConditionToo) {
  handlers_lag_ = true;
  Start({"a"});
  AwaitEnd();
  auto ending = std::make_shared<Pod>(*victim_);
  ending->metadata.deletion_timestamp = Time();
  cache_.UpdatePod(ending);
  EXPECT_TRUE(IsRunning());
  cache_.UpdatePod(client_->Get<Pod>("default", "a"));
  EXPECT_FALSE(IsRunning());
}

// The request for "b" fails after the preemptor has begun another preemption.
TEST_F(PreemptionExecutorTest, ALateFailureDoesNotEndTheNextPreemption) {
  handlers_lag_ = true;
  Start({"a", "b"},
        "faults: [{match: {verbs: [delete], name: b}, latency: 300ms, "
        "error: {code: 403}}, "
        "{match: {verbs: [delete, patch], name: c}, hang: before}]");
  AwaitThat([this] { return IsEnding("a"); });
  cache_.RemovePod(*victim_);
  cache_.RemovePod(*client_->Get<Pod>("default", "b"));
  const auto next =
      std::make_shared<const Pod>(NewPodOf("c", {.node = "node-1"}));
  cache_.AddPod(next);
  executor_->PrepareCandidateAsync({.node_name = "node-1", .victims = {next}},
                                   urgent_);
  AwaitThat([this] { return !retried().empty(); });
  EXPECT_TRUE(IsRunning());
}

TEST_F(PreemptionExecutorTest, AVictimThatWaitsOnPermitIsNotDeleted) {
  std::string end;
  before_ = [&] {
    const auto pod = client_->Get<Pod>("default", "a");
    waiting_pods_.Add(pod, "node-1", {{"Doorman", std::chrono::minutes(1)}});
    waiting_pods_.WaitOnPermit(pod).Start(
        [&](const Status& status) { end = Describe(status); });
  };
  Start({"a"});
  AwaitEnd();
  EXPECT_FALSE(IsEnding("a"));
  EXPECT_FALSE(IsRunning()) << "a later attempt of the victim is no matter";
  timers_.Drain(Clock::TimePoint::max());
  EXPECT_EQ(end,
            "Error by DefaultPreemption: waiting on permit for pod: preempted");
  AwaitThat([this] { return Notes().size() == 1; });
  EXPECT_THAT(Notes(),
              ElementsAre("a: Preempted by pod urgent on node node-1 (in "
                          "kube-scheduler memory)."));
  EXPECT_THAT(retried(), IsEmpty());
}

TEST_F(PreemptionExecutorTest, StopsWhatIsUnderWay) {
  Start({"a", "b"}, "faults: [{match: {verbs: [patch]}, hang: before}]");
  stop_.request_stop();
  EXPECT_TRUE(under_way_.WaitUntil(
      RealClock(), RealClock().Now() + std::chrono::seconds(20)));
}

}  // namespace
}  // namespace minisched
