#include "minisched/leaderelection/leader_elector.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <random>
#include <thread>
#include <utility>

#include "minisched/api/duration.h"
#include "minisched/base/executor.h"
#include "minisched/base/log.h"
#include "minisched/base/random.h"
#include "minisched/client/errors.h"

namespace minisched {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The longest wait for the next try, in retry periods. Waits are random, so
// replicas that have started together try at different times.
constexpr double kJitterFactor = 1.2;

// Asks to stop when `stop` does, and at a time of the executor's clock.
class StopAt {
  using Callback = std::stop_callback<std::function<void()>>;

 public:
  StopAt(Executor& executor, Clock::TimePoint time, const std::stop_token& stop)
      : executor_(executor),
        timer_(executor.PostAt(
            time, [source = source_]() mutable { source.request_stop(); })),
        callback_(stop, [this] { source_.request_stop(); }) {}
  ~StopAt() { executor_.Cancel(timer_); }

  StopAt(const StopAt&) = delete;
  StopAt& operator=(const StopAt&) = delete;

  std::stop_token token() const { return source_.get_token(); }

 private:
  Executor& executor_;
  std::stop_source source_;
  Executor::Timer timer_;
  Callback callback_;
};

// Sets a flag while the object exists.
class Flag {
 public:
  explicit Flag(std::atomic<bool>& flag) : flag_(flag) { flag_ = true; }
  ~Flag() { flag_ = false; }

  Flag(const Flag&) = delete;
  Flag& operator=(const Flag&) = delete;

 private:
  std::atomic<bool>& flag_;
};

// Throws ConfigError for durations that can't work. The messages are those of
// client-go.
const LeaderElectionConfiguration& Checked(
    const LeaderElectionConfiguration& configuration,
    const std::string& identity) {
  const auto require = [](bool holds, const char* message) {
    if (!holds) throw ConfigError(message);
  };
  require(configuration.lease_duration > configuration.renew_deadline,
          "leaseDuration must be greater than renewDeadline");
  require(
      configuration.renew_deadline > configuration.retry_period * kJitterFactor,
      "renewDeadline must be greater than retryPeriod*JitterFactor");
  require(configuration.lease_duration.count() > 0,
          "leaseDuration must be greater than zero");
  require(configuration.renew_deadline.count() > 0,
          "renewDeadline must be greater than zero");
  require(configuration.retry_period.count() > 0,
          "retryPeriod must be greater than zero");
  require(!identity.empty(), "Lock identity is empty");
  return configuration;
}

// Returns the configuration of the elector's own client. A request that gets no
// response must leave time for another one. Follows client-go
// tools/leaderelection/resourcelock/interface.go.
RestConfig ElectionClient(RestConfig cluster,
                          std::chrono::nanoseconds renew_deadline) {
  cluster.qps = 0;
  cluster.user_agent += "/leader-election";
  const milliseconds timeout =
      std::max(std::chrono::duration_cast<milliseconds>(renew_deadline / 2),
               milliseconds(1000));
  cluster.connect_timeout = std::min(cluster.connect_timeout, timeout);
  cluster.request_timeout = std::min(cluster.request_timeout, timeout);
  return cluster;
}

}  // namespace

LeaderElector::LeaderElector(RestConfig cluster,
                             const LeaderElectionConfiguration& configuration,
                             std::string identity,
                             const std::string& controller, Clock& clock)
    : identity_(std::move(identity)),
      lease_duration_(Checked(configuration, identity_).lease_duration),
      renew_deadline_(configuration.renew_deadline),
      retry_period_(configuration.retry_period),
      clock_(clock),
      client_(ElectionClient(std::move(cluster), renew_deadline_), clock),
      lock_(client_, configuration.resource_namespace,
            configuration.resource_name),
      recorder_(client_, controller) {}

LeaderElector::End LeaderElector::Run(const std::stop_token& stop,
                                      const Lead& lead) {
  if (!Acquire(stop)) return End::kStopped;
  Record("became leader");
  std::stop_source leading;
  const std::stop_callback end(stop, [&leading] { leading.request_stop(); });
  std::atomic<bool> lost = false;
  bool finished = false;
  {
    const Flag leads(leading_);
    // The destructor asks Renew() to stop, and waits for it.
    const std::jthread renewal([&](const std::stop_token& done) {
      lost = !Renew(done) || !IsLeader();
      lead_until_ = kNever;
      leading.request_stop();
    });
    finished = lead(leading.get_token());
  }
  // The work may have found out first that its time is over.
  if (!finished && !stop.stop_requested()) lost = true;
  if (!lost && finished) Release();
  Record("stopped leading");
  return lost ? End::kLost : End::kStopped;
}

std::string LeaderElector::GetLeader() const {
  MutexLock lock(mu_);
  return observed_.holder_identity.value_or("");
}

std::optional<std::string> LeaderElector::Check(
    Clock::Duration tolerated) const {
  MutexLock lock(mu_);
  if (!leading_ ||
      clock_.BootNow() - renewed_at_ <= lease_duration_ + tolerated) {
    return std::nullopt;
  }
  return "failed election to renew leadership on lease " + lock_.Describe();
}

bool LeaderElector::Acquire(const std::stop_token& stop) {
  spdlog::info("attempting to acquire the lease {} as {}", lock_.Describe(),
               identity_);
  while (!stop.stop_requested()) {
    {
      const StopAt limit(client_.executor(), clock_.Now() + renew_deadline_,
                         stop);
      // After a slow response, the deadline of the leader may have passed.
      if (TryAcquireOrRenew(limit.token()) && IsLeader()) {
        spdlog::info("acquired the lease {}", lock_.Describe());
        return true;
      }
    }
    clock_.SleepUntil(NextTry(), stop);
  }
  return false;
}

bool LeaderElector::Renew(const std::stop_token& done) {
  auto last_try = clock_.Now();
  while (true) {
    const Clock::TimePoint lead_until{Clock::Duration(lead_until_)};
    const auto deadline = clock_.Now() + (lead_until - clock_.BootNow());
    clock_.SleepUntil(std::min(last_try + retry_period_, deadline), done);
    if (done.stop_requested()) return true;
    last_try = clock_.Now();
    if (IsLeader()) {
      const StopAt limit(client_.executor(), deadline, done);
      TryAcquireOrRenew(limit.token());
      if (done.stop_requested()) return true;
      // The machine may have been suspended during the request. Then the work
      // may have ended at the deadline, so this renewal comes too late.
      if (clock_.BootNow() >= lead_until) lead_until_ = kNever;
    }
    if (!HoldsLease()) {
      spdlog::error("lost the lease {} to {}", lock_.Describe(), GetLeader());
      return false;
    }
    if (!IsLeader()) {
      spdlog::error("failed to renew the lease {} within {}", lock_.Describe(),
                    FormatDuration(renew_deadline_));
      return false;
    }
  }
}

bool LeaderElector::Release() {
  const StopAt limit(client_.executor(), clock_.Now() + renew_deadline_, {});
  while (true) {
    try {
      const auto old = lock_.Get(limit.token());
      if (!old || !IsHolder(*old)) return true;
      LeaseSpec spec = *old;
      spec.holder_identity = "";
      spec.lease_duration_seconds = 1;
      spec.acquire_time = spec.renew_time = MicroTime{clock_.WallNow()};
      lock_.Update(spec, limit.token());
      Observe(spec);
      spdlog::info("released the lease {}", lock_.Describe());
      return true;
    } catch (const ApiError& error) {
      // The server may have carried out a renewal that was cancelled.
      if (error.code() == 409) continue;
      spdlog::error("failed to release the lease {}: {}", lock_.Describe(),
                    error.what());
    } catch (const std::exception& error) {
      spdlog::error("failed to release the lease {}: {}", lock_.Describe(),
                    error.what());
    } catch (const Cancelled&) {
      spdlog::error("failed to release the lease {} within {}",
                    lock_.Describe(), FormatDuration(renew_deadline_));
    }
    return false;
  }
}

bool LeaderElector::TryAcquireOrRenew(const std::stop_token& stop) {
  const std::string leader = GetLeader();
  bool acquired = false;
  try {
    acquired = AcquireOrRenew(stop);
  } catch (const std::exception& error) {
    spdlog::warn("failed to acquire or renew the lease {}: {}",
                 lock_.Describe(), error.what());
  } catch (const Cancelled&) {
    spdlog::debug("a request for the lease {} was cancelled", lock_.Describe());
  }
  if (const std::string now = GetLeader(); now != leader) {
    spdlog::info("the holder of the lease {} is \"{}\"", lock_.Describe(), now);
  }
  return acquired;
}

bool LeaderElector::AcquireOrRenew(const std::stop_token& stop) {
  const auto now = clock_.BootNow();
  // The fast path of the leader: assumes that nobody has changed the Lease.
  if (lock_.is_known() && HoldsLease() && now < LeaseEnd()) {
    LeaseSpec last;
    {
      MutexLock lock(mu_);
      last = observed_;
    }
    try {
      Take(last, now, stop);
      return true;
    } catch (const std::exception& error) {
      spdlog::debug("failed to renew the lease {} at once: {}",
                    lock_.Describe(), error.what());
    }
  }
  const auto spec = lock_.Get(stop);
  if (!spec) {
    LeaseSpec first = NewSpec();
    lock_.Create(first, stop);
    SetRenewed(std::move(first), now);
    return true;
  }
  const bool is_new = Observe(*spec);
  const bool is_free = spec->holder_identity.value_or("").empty();
  if (!is_free && !HoldsLease() && (is_new || now < LeaseEnd())) {
    spdlog::debug("{} holds the lease {}", GetLeader(), lock_.Describe());
    return false;
  }
  Take(*spec, now, stop);
  return true;
}

void LeaderElector::Take(const LeaseSpec& old, Clock::TimePoint now,
                         const std::stop_token& stop) {
  LeaseSpec spec = NewSpec();
  spec.strategy = old.strategy;
  spec.preferred_holder = old.preferred_holder;
  if (IsHolder(old)) {
    spec.acquire_time = old.acquire_time;
    spec.lease_transitions = old.lease_transitions;
  } else {
    spec.lease_transitions = old.lease_transitions.value_or(0) + 1;
  }
  lock_.Update(spec, stop);
  SetRenewed(std::move(spec), now);
}

void LeaderElector::SetRenewed(LeaseSpec spec, Clock::TimePoint now) {
  MutexLock lock(mu_);
  observed_ = std::move(spec);
  observed_at_ = renewed_at_ = now;
  lead_until_ = (now + renew_deadline_).time_since_epoch().count();
}

bool LeaderElector::Observe(const LeaseSpec& spec) {
  MutexLock lock(mu_);
  if (spec == observed_) return false;
  observed_ = spec;
  observed_at_ = clock_.BootNow();
  return true;
}

LeaseSpec LeaderElector::NewSpec() const {
  const MicroTime now{clock_.WallNow()};
  const auto duration = std::chrono::ceil<seconds>(lease_duration_);
  return {.holder_identity = identity_,
          .lease_duration_seconds = static_cast<std::int32_t>(duration.count()),
          .acquire_time = now,
          .renew_time = now,
          .lease_transitions = 0};
}

bool LeaderElector::IsHolder(const LeaseSpec& spec) const {
  return spec.holder_identity == identity_;
}

bool LeaderElector::HoldsLease() const {
  MutexLock lock(mu_);
  return IsHolder(observed_);
}

Clock::TimePoint LeaderElector::LeaseEnd() const {
  MutexLock lock(mu_);
  return observed_at_ + seconds(observed_.lease_duration_seconds.value_or(0));
}

Clock::TimePoint LeaderElector::NextTry() const {
  std::uniform_real_distribution<double> jitter(1, kJitterFactor);
  const auto wait = std::chrono::duration_cast<Clock::Duration>(
      retry_period_ * jitter(ThreadRandom()));
  const auto until_end = LeaseEnd() - clock_.BootNow();
  const bool ends_first =
      until_end > Clock::Duration::zero() && until_end < wait;
  return clock_.Now() + (ends_first ? until_end : wait);
}

void LeaderElector::Record(const std::string& what) {
  recorder_.Eventf(lock_.Reference(), std::nullopt, "Normal", "LeaderElection",
                   "LeaderElection", identity_ + " " + what);
}

std::string NewElectionIdentity() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  std::random_device random;
  const auto bits = [&random](int digits) {
    return random() & ((1U << 4 * digits) - 1);
  };
  // A random uuid, of version 4.
  return fmt::format("{}_{:04x}{:04x}-{:04x}-4{:03x}-{:04x}-{:06x}{:06x}", name,
                     bits(4), bits(4), bits(4), bits(3),
                     0x8000 | (bits(4) & 0x3fff), bits(6), bits(6));
}

}  // namespace minisched
