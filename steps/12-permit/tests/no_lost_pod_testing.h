#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "minisched/api/node.h"
#include "minisched/base/mutex.h"
#include "tests/scheduler_testing.h"
#include "tests/scheduling_queue_peer_testing.h"

// Helpers for a test of a whole scheduler with random operations: plugins with
// random results, and a check that no pod is lost.

namespace minisched {

// A method that is called with this probability.
template <class T>
struct RandomOperation {
  int percent;
  std::string_view name;
  void (T::*run)();
};

// A pod whose PreBind has not ended.
struct HeldPreBind {
  std::string uid;
  std::string node;
  StatusCallback done;
};

// The source of random choices of a test, and the plugins' pods. Thread-safe,
// but the choices depend on the seed alone only if no two threads draw at once.
class Fate {
 public:
  explicit Fate(unsigned seed) : random_(seed) {}

  // Returns a random number below `end`.
  int Below(int end) EXCLUDES(mu_);
  // Returns a random operation. REQUIRES: their percentages add up to 100.
  template <class T, std::size_t N>
  const RandomOperation<T>& Choose(const RandomOperation<T> (&operations)[N]) {
    int roll = Below(100);
    const RandomOperation<T>* operation = operations;
    while ((roll -= operation->percent) >= 0) ++operation;
    return *operation;
  }
  // From now on, the plugins let all pods pass.
  void BeKind() EXCLUDES(mu_);
  bool is_kind() EXCLUDES(mu_);

  // The results of the plugins.
  Status Reserve() EXCLUDES(mu_);
  Status Permit(Clock::Duration& timeout) EXCLUDES(mu_);
  void PreBind(HeldPreBind pod) EXCLUDES(mu_);

  std::vector<std::pair<std::string, std::string>> HeldPods() EXCLUDES(mu_);
  // Removes and returns a random held pod. REQUIRES: there is one.
  HeldPreBind TakeHeld() EXCLUDES(mu_);
  // Destroys the callbacks of the held pods.
  void DropHeld() EXCLUDES(mu_);

  // Returns a token for a binding cycle, which destroys it at its end.
  std::shared_ptr<void> BeginCycle();
  // How many binding cycles have not ended.
  std::size_t cycles() const { return cycles_; }

 private:
  Mutex mu_;
  std::mt19937 random_ GUARDED_BY(mu_);
  bool kind_ GUARDED_BY(mu_) = false;
  std::vector<HeldPreBind> held_ GUARDED_BY(mu_);
  std::atomic<std::size_t> cycles_ = 0;
};

// A plugin with random results. Registers new nodes and deleted pods.
class Chance final : public ReservePlugin,
                     public PermitPlugin,
                     public PreBindPlugin {
 public:
  // Permit calls `during_permit`. The arguments must outlive the plugin.
  Chance(std::string_view name, Fate& fate, std::function<void()> during_permit)
      : name_(name), fate_(fate), during_permit_(std::move(during_permit)) {}
  std::string_view Name() const override { return name_; }
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    return {{{EventResource::kNode, action::kAdd}},
            {{EventResource::kPod, action::kDelete}}};
  }
  Status Reserve(CycleState& state, const Pod& pod,
                 const std::string& node_name) override;
  void Unreserve(CycleState& /*state*/, const Pod& /*pod*/,
                 const std::string& /*node_name*/) override {}
  Status Permit(CycleState& state, const Pod& pod, const std::string& node_name,
                Clock::Duration& timeout) override;
  void PreBind(CycleState& state, const Pod& pod, const std::string& node_name,
               const std::stop_token& stop, StatusCallback done) const override;

 private:
  const std::string_view name_;
  Fate& fate_;
  const std::function<void()> during_permit_;
};

// The objects of the API server.
struct ServerObjects {
  std::map<std::string, std::shared_ptr<const Pod>> pods;    // by name
  std::map<std::string, std::shared_ptr<const Node>> nodes;  // by name
};

// Compares a scheduler that is idle with the API server. Returns a line for
// each fault:
// - A pending pod isn't in exactly one of activeQ, backoffQ, unschedulablePods,
//   the gated pods, the waiting pods and the held pods (assumed). Pods that are
//   being deleted may be in none.
// - The trace has another place.
// - The cache's sums aren't those of the pods that are bound, wait or are held.
std::string FindFaults(Scheduler& scheduler, const ServerObjects& server,
                       LastRecords& records, Fate& fate);

}  // namespace minisched
