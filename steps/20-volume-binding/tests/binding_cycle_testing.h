#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "minisched/api/json.h"
#include "minisched/base/fake_clock.h"
#include "minisched/base/mutex.h"
#include "scheduler.h"
#include "testing/scripted_cluster.h"
#include "tests/scheduler_testing.h"
#include "tests/scheduling_queue_peer_testing.h"

namespace minisched {

// The results of the plugin Volumes, and a record of its calls. Thread-safe.
class VolumeScript {
 public:
  void set_reserve(const Status& status) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    reserve_ = status;
  }
  // Without a status, PreBind keeps its callback for TakePreBind().
  void set_pre_bind(const std::optional<Status>& status) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    pre_bind_ = status;
  }
  Status reserve() const EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return reserve_;
  }

  void PreBind(StatusCallback done) EXCLUDES(mu_) {
    std::optional<Status> status;
    {
      MutexLock lock(mu_);
      status = pre_bind_;
      if (!status) kept_ = std::move(done);
      changed_.NotifyAll();
    }
    if (status) done(*status);
  }
  // Blocks until PreBind has kept its callback, and returns the callback.
  // Throws std::runtime_error after 20 s.
  StatusCallback TakePreBind() EXCLUDES(mu_) {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(20);
    MutexLock lock(mu_);
    while (!kept_) {
      if (std::chrono::steady_clock::now() >= deadline) {
        throw std::runtime_error("PreBind was not called");
      }
      changed_.WaitUntil(mu_, {}, deadline);
    }
    return std::exchange(kept_, {});
  }

  void Record(std::string call) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    calls_.push_back(std::move(call));
    changed_.NotifyAll();
  }
  // Blocks until there are `count` calls, and returns all calls so far, such as
  // "Reserve web-0 on node-1". Throws std::runtime_error after 20 s.
  std::vector<std::string> AwaitCalls(std::size_t count) EXCLUDES(mu_) {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(20);
    MutexLock lock(mu_);
    while (calls_.size() < count) {
      if (std::chrono::steady_clock::now() >= deadline) {
        throw std::runtime_error("too few calls within 20 s");
      }
      changed_.WaitUntil(mu_, {}, deadline);
    }
    return calls_;
  }

 private:
  mutable Mutex mu_;
  CondVar changed_;
  Status reserve_ GUARDED_BY(mu_);
  std::optional<Status> pre_bind_ GUARDED_BY(mu_) = Status();
  StatusCallback kept_ GUARDED_BY(mu_);
  std::vector<std::string> calls_ GUARDED_BY(mu_);
};

// A plugin of Reserve, PreBind and PostBind. It registers changed labels of
// nodes.
class Volumes final : public ReservePlugin,
                      public PreBindPlugin,
                      public PostBindPlugin {
 public:
  // The references must outlive the plugin.
  Volumes(VolumeScript& script, SchedulingQueue& queue)
      : script_(script), queue_(queue) {}
  std::string_view Name() const override { return "Volumes"; }
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    return {{{EventResource::kNode, action::kUpdateNodeLabel}}};
  }

  Status Reserve(CycleState& /*state*/, const Pod& pod,
                 const std::string& node_name) override {
    Record("Reserve", pod, node_name);
    return script_.reserve();
  }
  void Unreserve(CycleState& /*state*/, const Pod& pod,
                 const std::string& node_name) override {
    Record("Unreserve", pod, node_name);
  }
  void PreBind(CycleState& /*state*/, const Pod& pod,
               const std::string& node_name, const std::stop_token& /*stop*/,
               StatusCallback done) const override {
    Record("PreBind", pod, node_name);
    script_.PreBind(std::move(done));
  }
  void PostBind(CycleState& /*state*/, const Pod& pod,
                const std::string& node_name) const override {
    Record("PostBind", pod, node_name);
  }

 private:
  void Record(std::string_view point, const Pod& pod,
              const std::string& node) const {
    const auto in_flight = SchedulingQueuePeer::Read(queue_).in_flight;
    const bool flies = std::find(in_flight.begin(), in_flight.end(),
                                 pod.metadata.uid) != in_flight.end();
    script_.Record(fmt::format("{} {} on {}{}", point, pod.metadata.name, node,
                               flies ? ", in flight" : ""));
  }

  VolumeScript& script_;
  SchedulingQueue& queue_;
};

inline Node NewNode(const std::string& name, int allowed_pods = 110) {
  Node node;
  node.metadata.name = name;
  node.metadata.resource_version = "1";
  node.status.allocatable["pods"] = Quantity::FromValue(allowed_pods);
  return node;
}

// Returns a pod whose uid is its name.
inline Pod NewPod(const std::string& name) {
  Pod pod;
  pod.metadata.namespace_name = "default";
  pod.metadata.name = name;
  pod.metadata.uid = name;
  pod.metadata.resource_version = "1";
  pod.spec.scheduler_name = "minisched";
  return pod;
}

// A scheduler with the plugin Volumes, and a server whose responses to Bindings
// come from the test. Only tests advance the scheduler's clock.
class BindingCycleTest : public ::testing::Test {
 protected:
  // The scheduler's threads that sleep on the clock: one flushes the queue, one
  // writes events.
  static constexpr std::size_t kSleepers = 2;

  ~BindingCycleTest() override { Stop(); }

  // Adds the test's plugins. Called before Run().
  virtual void AddPlugins(Scheduler& scheduler) {
    SchedulingQueue& queue = SchedulerPeer::Queue(scheduler);
    SchedulerPeer::Add(scheduler, std::make_unique<Volumes>(volumes_, queue));
  }

  // Starts a scheduler with these pods. It tries them in the order of their
  // names.
  void Start(const std::vector<Node>& nodes, const std::vector<Pod>& pods) {
    for (const Node& node : nodes) cluster_.Add(node);
    for (const Pod& pod : pods) cluster_.Add(pod);
    client_ = std::make_unique<Client>(cluster_.config());
    scheduler_ = std::make_unique<Scheduler>(
        AppContext{*client_, "minisched", trace_, {}, metrics_}, options_,
        clock_);
    AddPlugins(*scheduler_);
    run_ = std::async(std::launch::async,
                      [this] { scheduler_->Run(stop_.get_token()); });
  }

  // Asks the scheduler to stop, advances the clock until Run() returns, and
  // waits until the last event is written.
  void Stop() {
    if (!scheduler_) return;
    stop_.request_stop();
    while (!RunReturnsWithin(std::chrono::milliseconds(1))) {
      clock_.Advance(std::chrono::seconds(1));
    }
    scheduler_.reset();
  }
  bool RunReturnsWithin(std::chrono::milliseconds time) {
    return run_.wait_for(time) == std::future_status::ready;
  }

  // Returns the name of the pod in the next Binding.
  std::string TakeBinding() {
    ScriptedApi::Exchange binding = cluster_.TakeBinding();
    std::string name = FromJson<Binding>(binding.request.body).metadata.name;
    bindings_.insert_or_assign(name, std::move(binding));
    return name;
  }

  // Does the same for `count` Bindings. Their order is random, because they are
  // sent on several connections.
  std::vector<std::string> TakeBindings(int count) {
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) names.push_back(TakeBinding());
    return names;
  }

  // Answer the pod's Binding.
  void Succeed(const std::string& pod) {
    bindings_.at(pod).reply.Send(201, R"({"kind":"Status"})");
  }
  void Fail(const std::string& pod) {
    bindings_.at(pod).reply.Send(
        504, R"({"kind":"Status","code":504,"message":"no quorum"})");
  }

  // Blocks until the scheduler has sent `count` writes other than Bindings and
  // nominations of pods that it is about to bind. Returns their bodies.
  std::vector<std::string> AwaitWrites(std::size_t count) {
    std::vector<std::string> bodies;
    std::size_t all = count;
    do {
      bodies.clear();
      const auto requests = cluster_.AwaitWrites(all);
      for (const auto& request : requests) {
        if (!IsNomination(request.body)) bodies.push_back(request.body);
      }
      all = requests.size() + 1;
    } while (bodies.size() < count);
    return bodies;
  }
  // Returns true for a PATCH that only sets status.nominatedNodeName.
  static bool IsNomination(const std::string& body) {
    return body.find("\"status\":{\"nominatedNodeName\":\"") !=
           std::string::npos;
  }

  // Blocks until the pod has moved to this place, and returns the move. Returns
  // each move once.
  Move AwaitMove(const std::string& pod, Place place) {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < deadline) {
      for (const RecordPtr& record : reader_.Poll()) {
        const auto* moved = std::get_if<PodRecord>(&record->state);
        if (moved != nullptr) moves_.push_back(*moved);
      }
      const auto found =
          std::find_if(moves_.begin(), moves_.end(), [&](const auto& moved) {
            return moved.uid == pod && moved.place == place;
          });
      if (found != moves_.end()) {
        Move move = found->move;
        moves_.erase(found);
        return move;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    throw std::runtime_error(fmt::format("{} isn't {}", pod, PlaceName(place)));
  }

  // Returns the last attempt that this reader of trace_ has not yet read.
  static Attempt LastAttempt(TraceReader& reader) {
    std::optional<Attempt> last;
    for (const RecordPtr& record : reader.Poll()) {
      const auto* attempt = std::get_if<Attempt>(&record->state);
      if (attempt != nullptr) last = *attempt;
    }
    return last.value();
  }
  // Returns the results of the test's plugins that ran after Filter, such as
  // "Reserve Volumes: Success".
  static std::vector<std::string> ResultsAfterFilter(const Attempt& attempt) {
    std::vector<std::string> results;
    for (const PointResult& result : attempt.points) {
      if (result.point == "PreFilter") continue;
      if (result.plugin == "VolumeBinding") continue;  // has nothing to do
      results.push_back(
          fmt::format("{} {}: {}", result.point, result.plugin, result.status));
      if (!result.message.empty()) results.back() += ", " + result.message;
    }
    return results;
  }

  SchedulingQueuePeer::Pods Queued() {
    return SchedulingQueuePeer::Read(SchedulerPeer::Queue(*scheduler_));
  }

  SchedulerOptions options_;
  FakeClock clock_;
  ScriptedCluster cluster_{clock_};
  Metrics metrics_;
  VolumeScript volumes_;
  // Called when a pod comes to a place, on the scheduler's threads. Set it
  // before Start().
  std::function<void(Place)> on_moved_ = [](Place) {};
  std::unique_ptr<Scheduler> scheduler_;
  std::stop_source stop_;
  Trace trace_{
      "minisched", clock_, {}, [this](const auto&, Place place, const auto&) {
        on_moved_(place);
      }};

 private:
  TraceReader reader_{trace_};
  std::vector<PodRecord> moves_;
  std::unique_ptr<Client> client_;
  std::map<std::string, ScriptedApi::Exchange> bindings_;  // by pod
  std::future<void> run_;
};

}  // namespace minisched
