#pragma once

#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "lab/scenario/world.h"
#include "minisched/base/mutex.h"
#include "minisched/client/client.h"

namespace minisched::scenario {

// Watches the pods of a namespace and all nodes, so that the player misses no
// state between two calls of Look(). Retries if the server is unreachable.
// Thread-safe.
class Observer {
 public:
  // `throughout` are rules that must hold after each change. Returns after the
  // first lists. Throws what Client throws. `client` must outlive the observer.
  Observer(Client& client, std::string namespace_name,
           std::vector<Expectation> throughout, const std::stop_token& stop);
  ~Observer();

  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  // Returns the world without `events` and `requests`.
  World Look() const EXCLUDES(mu_);

  // Record in World::created what the scenario has created and deleted.
  void NoteCreated(const std::string& pod) EXCLUDES(mu_);
  void NoteDeleted(const std::string& pod) EXCLUDES(mu_);

  // Block until the watch has delivered the pod with that uid ("": any), or the
  // pod's deletion, so that later expectations are judged on the current state.
  // They return after 30 s at the latest.
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

  // Blocks until something has changed since the last call or the deadline has
  // passed.
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
  // Wakes waiters and evaluates the rules after a change.
  void Changed() REQUIRES(mu_);

  Client& client_;
  const std::string namespace_;
  const std::vector<Expectation> throughout_;

  template <class Done>
  void AwaitPods(Done done, const std::stop_token& stop) const EXCLUDES(mu_);

  mutable Mutex mu_;
  mutable CondVar changed_;
  World world_ GUARDED_BY(mu_);
  std::set<std::string> seen_ GUARDED_BY(mu_);  // uids of pods
  int moment_ GUARDED_BY(mu_) = 0;
  bool has_changed_ GUARDED_BY(mu_) = false;
  std::optional<Violation> violation_ GUARDED_BY(mu_);

  std::jthread pods_;
  std::jthread nodes_;
};

}  // namespace minisched::scenario
