#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>

#include "minisched/api/lease.h"
#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"
#include "minisched/client/client.h"
#include "minisched/client/rest_config.h"
#include "minisched/config/configuration.h"
#include "minisched/events/event_recorder.h"
#include "minisched/leaderelection/lease_lock.h"

namespace minisched {

// Elects one leader among the replicas of a program: the replica that holds a
// Lease. Follows client-go tools/leaderelection/leaderelection.go.
//
// The leader renews the Lease every retry period. The others take the Lease
// over once they have not seen it change for its duration, by their own clocks.
// So no clocks are compared, and a jump of the time of day has no effect.
//
// A leader stops leading at its own deadline: it may lead for the renew
// deadline, which is shorter than the duration of the Lease, from the start of
// its last successful request. The time of a suspension of the machine counts,
// too. IsLeader() checks this deadline, so it returns false in time even if the
// program was paused or the server doesn't respond.
//
// Different from client-go:
// - The Lease is released only when the work of the leader has ended.
// - The renew deadline begins with the last renewal. In client-go, it begins a
//   retry period later, and can end after the Lease.
// - A leader that sees another holder stops at once. In client-go, it stops at
//   the renew deadline.
// - While another replica holds the Lease, the next try comes after 1 to 1.2
//   retry periods, or when the Lease ends. In client-go, it comes after 1 to
//   2.2 periods. So a takeover comes at most the duration and two retry periods
//   after the last renewal.
// - A duration of a fraction of a second is rounded up in the Lease. client-go
//   rounds down, so that the others may take over too early.
// - The strategy of a Lease (coordinated leader election) is kept.
class LeaderElector {
 public:
  // Does the work of the leader on the thread of Run(). Must return soon after
  // `stop` asks to stop. Returns true if all of its work has ended, so that the
  // Lease can be released. Otherwise the others wait until the Lease ends. If
  // it returns false before `stop` asks to stop, the Lease counts as lost.
  using Lead = std::function<bool(const std::stop_token& stop)>;
  enum class End {
    kStopped,  // the caller asked to stop
    kLost,     // the Lease could not be renewed, or has another holder
  };

  // `identity` differs from those of the other replicas. `controller` names the
  // program in the events of the Lease. `clock` must outlive the elector.
  // Throws ConfigError if the durations can't work.
  LeaderElector(RestConfig cluster,
                const LeaderElectionConfiguration& configuration,
                std::string identity, const std::string& controller,
                Clock& clock = RealClock());

  LeaderElector(const LeaderElector&) = delete;
  LeaderElector& operator=(const LeaderElector&) = delete;

  // Blocks until the Lease is acquired, then calls `lead`, and renews the Lease
  // meanwhile. Asks `lead` to stop when `stop` does, or when the Lease is lost.
  // After `lead` has returned true, releases the Lease unless it is lost.
  // Returns kStopped without a call of `lead` if `stop` asks to stop before the
  // Lease is acquired. Throws what `lead` throws. Not thread-safe.
  End Run(const std::stop_token& stop, const Lead& lead);

  // Returns true until the deadline of the leader. Call it immediately before
  // each action that only a leader may take: it costs little. Thread-safe.
  bool IsLeader() const {
    return clock_.BootNow().time_since_epoch().count() < lead_until_;
  }

  // Returns the identity of the holder that was last seen, or "". Thread-safe.
  std::string GetLeader() const EXCLUDES(mu_);

  // A check for HealthChecks. Returns an error if `lead` still runs although
  // the Lease ended more than `tolerated` ago. Thread-safe.
  std::optional<std::string> Check(
      Clock::Duration tolerated = std::chrono::seconds(20)) const;

 private:
  friend struct LeaderElectorPeer;  // for tests

  static constexpr auto kNever =
      std::numeric_limits<Clock::Duration::rep>::min();

  bool Acquire(const std::stop_token& stop);
  // Returns false if the Lease is lost, true if `done` asks to stop.
  bool Renew(const std::stop_token& done);
  // Releases the Lease if it is ours. Returns false if that fails.
  bool Release() EXCLUDES(mu_);

  // Acquires or renews the Lease with one or two requests. Returns false, and
  // logs errors, if this is not possible now.
  bool TryAcquireOrRenew(const std::stop_token& stop) EXCLUDES(mu_);
  bool AcquireOrRenew(const std::stop_token& stop) EXCLUDES(mu_);
  // Writes the Lease with us as the holder. `old` is the spec that it replaces.
  void Take(const LeaseSpec& old, Clock::TimePoint now,
            const std::stop_token& stop) EXCLUDES(mu_);
  void SetRenewed(LeaseSpec spec, Clock::TimePoint now) EXCLUDES(mu_);
  // Records that the spec was seen. Returns true if it has changed.
  bool Observe(const LeaseSpec& spec) EXCLUDES(mu_);

  // Returns a spec with us as the holder, without a history.
  LeaseSpec NewSpec() const;
  bool IsHolder(const LeaseSpec& spec) const;
  bool HoldsLease() const EXCLUDES(mu_);
  // Returns when the last seen Lease ends, by BootNow().
  Clock::TimePoint LeaseEnd() const EXCLUDES(mu_);
  // Returns the time of the next try to acquire the Lease, by Now().
  Clock::TimePoint NextTry() const EXCLUDES(mu_);
  void Record(const std::string& what);

  const std::string identity_;
  const std::chrono::nanoseconds lease_duration_;
  const Clock::Duration renew_deadline_;
  const Clock::Duration retry_period_;
  Clock& clock_;
  Client client_;
  LeaseLock lock_;
  EventRecorder recorder_;

  std::atomic<Clock::Duration::rep> lead_until_ = kNever;  // by BootNow()
  std::atomic<bool> leading_ = false;                      // `lead` runs
  mutable Mutex mu_;
  LeaseSpec observed_ GUARDED_BY(mu_);
  // When `observed_` was first seen, or the start of the request that wrote it.
  Clock::TimePoint observed_at_ GUARDED_BY(mu_){};
  Clock::TimePoint renewed_at_ GUARDED_BY(mu_){};
};

// Returns an identity that no other process has: "<hostname>_<uuid>".
std::string NewElectionIdentity();

}  // namespace minisched
