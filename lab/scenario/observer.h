#pragma once

#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "lab/scenario/evaluation.h"
#include "minisched/base/mutex.h"
#include "minisched/client/client.h"

namespace minisched::scenario {

// Watches the pods of a namespace and all nodes, and evaluates rules after each
// change. If a watch ends or the server is unreachable, lists and watches
// again. Thread-safe.
class Observer {
 public:
  // `throughout` are rules that must hold after each change. Returns after the
  // first lists. Throws what Client throws. `client` must outlive the observer.
  Observer(Client& client, std::string namespace_name,
           std::vector<Expectation> throughout, const std::stop_token& stop);
  ~Observer();

  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  // Returns the state without `events`, `requests` and `metrics`.
  ClusterState State() const EXCLUDES(mu_);

  // Add a pod to ClusterState::created, and remove a pod from it.
  void NoteCreated(const std::string& pod) EXCLUDES(mu_);
  void NoteDeleted(const std::string& pod) EXCLUDES(mu_);

  // Block until the observer has seen a change that the scenario has made, so
  // that later expectations are evaluated on the new state. Both functions
  // return after 30 s at the latest, and throw Cancelled on a stop request.
  //
  // AwaitCreated() waits for the pod with this uid, or with this name if the
  // uid is empty. AwaitDeleted() waits until the pod is gone or being deleted.
  void AwaitCreated(const std::string& pod, const std::string& uid,
                    const std::stop_token& stop) const EXCLUDES(mu_);
  void AwaitDeleted(const std::string& pod, const std::stop_token& stop) const
      EXCLUDES(mu_);

  // The first rule of `throughout` that was broken: its text and the verdict.
  struct Violation {
    std::string text;
    Verdict verdict;
  };
  std::optional<Violation> violation() const EXCLUDES(mu_);

  // Blocks until a pod or node has changed since the last call, until the
  // deadline, or until a stop request.
  void AwaitChange(Clock::TimePoint deadline, const std::stop_token& stop)
      EXCLUDES(mu_);

 private:
  template <class T>
  std::string List(const std::stop_token& stop) EXCLUDES(mu_);
  template <class T>
  void Follow(std::string version, const std::stop_token& stop) EXCLUDES(mu_);
  template <class T>
  void Put(const std::shared_ptr<const T>& object, int moment) REQUIRES(mu_);
  template <class T>
  auto& Objects() REQUIRES(mu_);
  // Records that the state has changed: wakes waiters and evaluates the rules.
  void Changed() REQUIRES(mu_);

  Client& client_;
  const std::string namespace_;
  const std::vector<Expectation> throughout_;

  template <class Done>
  void AwaitPods(Done done, const std::stop_token& stop) const EXCLUDES(mu_);

  mutable Mutex mu_;
  mutable CondVar changed_;
  ClusterState state_ GUARDED_BY(mu_);
  // The uids of all pods observed so far.
  std::set<std::string> seen_ GUARDED_BY(mu_);
  int moment_ GUARDED_BY(mu_) = 0;
  bool has_changed_ GUARDED_BY(mu_) = false;
  std::optional<Violation> violation_ GUARDED_BY(mu_);

  std::jthread pods_;
  std::jthread nodes_;
};

}  // namespace minisched::scenario
