#pragma once

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
#include "framework/pods_in_pre_bind.h"
#include "framework/waiting_pods.h"
#include "minisched/api/event.h"
#include "minisched/base/executor.h"
#include "minisched/base/fake_clock.h"
#include "minisched/events/event_recorder.h"
#include "minisched/informer/shared_informer_factory.h"
#include "preemption/executor.h"
#include "testing/embedded_server.h"
#include "tests/handle_testing.h"
#include "tests/preemption_testing.h"

// Helpers for tests of PreemptionExecutor.

namespace minisched {

inline constexpr char kVictim[] = R"(---
{apiVersion: v1, kind: Pod, metadata: {name: NAME, finalizers: [a.b/c]},
 spec: {nodeName: node-1, containers: [{name: c, image: i}]}}
)";

inline std::string Victims(const std::vector<std::string>& names) {
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
                   .pods_in_pre_bind = pods_in_pre_bind_,
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

  // Deletes the pod, with its finalizers.
  void EndPod(const std::string& pod) {
    client_->Patch<Pod>("default", pod, PatchType::kMerge,
                        R"({"metadata":{"finalizers":null}})");
    client_->Delete<Pod>("default", pod, {.grace_period_seconds = 0});
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
  PodsInPreBind pods_in_pre_bind_;
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

}  // namespace minisched
