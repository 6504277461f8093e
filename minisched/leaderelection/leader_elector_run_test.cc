// Replicas with clocks of their own, which elect a leader.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "minisched/base/fake_clock.h"
#include "minisched/leaderelection/leader_elector.h"
#include "minisched/leaderelection/leader_elector_testing.h"
#include "testing/embedded_server.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;
using ::testing::UnorderedElementsAre;
using End = LeaderElector::End;

constexpr auto kLease = 15s;
constexpr auto kDeadline = 10s;
constexpr auto kRetry = 2s;

// An elector on a thread of its own. Its work goes on until it is asked to
// stop, and until LetWorkEnd().
class Replica {
 public:
  Replica(const RestConfig& config, const std::string& identity,
          bool work_ends = true)
      : work_ends_(work_ends),
        elector_(
            config,
            {.resource_name = "scheduler", .resource_namespace = "default"},
            identity, "minisched", clock_),
        thread_([this] {
          end_ = elector_.Run(
              stop_.get_token(),
              [this](const std::stop_token& stop) { return Lead(stop); });
        }) {}
  ~Replica() {
    Stop();
    LetWorkEnd();
  }

  FakeClock& clock() { return clock_; }
  LeaderElector& elector() { return elector_; }

  bool leads() const EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return leads_;
  }
  void AwaitLead() EXCLUDES(mu_) {
    MutexLock lock(mu_);
    while (!leads_) changed_.Wait(mu_);
  }
  // Blocks until the elector has asked the work to stop.
  void AwaitStopOfWork() EXCLUDES(mu_) {
    MutexLock lock(mu_);
    while (!is_asked_to_stop_) changed_.Wait(mu_);
  }
  void LetWorkEnd() EXCLUDES(mu_) {
    MutexLock lock(mu_);
    work_ends_ = true;
    changed_.NotifyAll();
  }

  // Blocks until the elector waits for its next try.
  void AwaitSleep() {
    while (clock_.NextDeadline() - clock_.Now() > kRetry * 1.2) {
      std::this_thread::sleep_for(1ms);
    }
  }
  // Advances the clock to the next try, and blocks until it has ended.
  void TryAgain() {
    AwaitSleep();
    clock_.Advance(clock_.NextDeadline() - clock_.Now());
    AwaitSleep();
  }

  void Stop() { stop_.request_stop(); }
  // Ends as a program that is killed: without a release.
  void Kill() {
    release_ = false;
    Stop();
    AwaitEnd();
  }
  End AwaitEnd() {
    thread_.join();
    return end_;
  }

 private:
  bool Lead(const std::stop_token& stop) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    leads_ = true;
    changed_.NotifyAll();
    while (!stop.stop_requested()) changed_.Wait(mu_, stop);
    is_asked_to_stop_ = true;
    changed_.NotifyAll();
    while (!work_ends_) changed_.Wait(mu_);
    leads_ = false;
    return release_;
  }

  FakeClock clock_;
  mutable Mutex mu_;
  CondVar changed_;
  bool leads_ GUARDED_BY(mu_) = false;
  bool is_asked_to_stop_ GUARDED_BY(mu_) = false;
  bool work_ends_ GUARDED_BY(mu_);
  std::atomic<bool> release_ = true;
  End end_{};
  std::stop_source stop_;
  LeaderElector elector_;
  std::jthread thread_;
};

class LeaderElectorRunTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Lease> GetLease() {
    return client_.Get<Lease>("default", "scheduler");
  }
  std::string Holder() {
    return GetLease()->spec.holder_identity.value_or("none");
  }

  EmbeddedServer server_;
  Client client_{server_.config()};
};

// The longest takeover: the leader renews the Lease just after the other has
// looked at it, and then is killed.
TEST_F(LeaderElectorRunTest, ATakeoverTakesAtMostTheLeaseAndTwoRetryPeriods) {
  Replica a(server_.config(), "a");
  a.AwaitLead();
  a.AwaitSleep();
  Replica b(server_.config(), "b");
  b.AwaitSleep();
  a.TryAgain();
  const auto renewed = b.clock().Now();
  a.Kill();
  for (int i = 0; i < 100 && !b.elector().IsLeader(); ++i) b.TryAgain();
  b.AwaitLead();
  EXPECT_GE(b.clock().Now() - renewed, kLease);
  EXPECT_LE(b.clock().Now() - renewed, kLease + 2 * kRetry);
  const LeaseSpec spec = GetLease()->spec;
  EXPECT_EQ(spec.holder_identity, "b");
  EXPECT_EQ(spec.lease_transitions, 1);
  EXPECT_EQ(spec.acquire_time, MicroTime{b.clock().WallNow()});
}

TEST_F(LeaderElectorRunTest, ARenewalKeepsTheOthersWaiting) {
  Replica a(server_.config(), "a");
  a.AwaitLead();
  const auto start = a.clock().WallNow();
  Replica b(server_.config(), "b");
  for (int i = 0; i < 20; ++i) {
    a.TryAgain();
    b.TryAgain();
  }
  EXPECT_GT(b.clock().WallNow(), start + 2 * kLease);
  EXPECT_TRUE(a.elector().IsLeader());
  EXPECT_FALSE(b.elector().IsLeader());
  EXPECT_EQ(b.elector().GetLeader(), "a");
  const LeaseSpec spec = GetLease()->spec;
  EXPECT_EQ(spec.acquire_time, MicroTime{start});
  EXPECT_EQ(spec.renew_time, MicroTime{a.clock().WallNow()});
  EXPECT_EQ(spec.lease_transitions, 0);
}

TEST_F(LeaderElectorRunTest, AReleasedLeaseIsTakenAtTheNextTry) {
  Replica a(server_.config(), "a");
  a.AwaitLead();
  Replica b(server_.config(), "b");
  b.AwaitSleep();
  a.Stop();
  EXPECT_EQ(a.AwaitEnd(), End::kStopped);
  EXPECT_FALSE(a.elector().IsLeader());
  EXPECT_EQ(Holder(), "");
  b.TryAgain();
  b.AwaitLead();
  EXPECT_EQ(Holder(), "b");
}

// The leader renews the Lease until its work has ended.
TEST_F(LeaderElectorRunTest, ReleasesTheLeaseOnlyAfterTheWork) {
  Replica a(server_.config(), "a", /*work_ends=*/false);
  a.AwaitLead();
  Replica b(server_.config(), "b");
  b.AwaitSleep();
  a.Stop();
  a.AwaitStopOfWork();
  for (int i = 0; i < 20; ++i) {
    a.TryAgain();
    b.TryAgain();
  }
  EXPECT_TRUE(a.elector().IsLeader());
  EXPECT_FALSE(b.leads());
  EXPECT_EQ(Holder(), "a");
  a.LetWorkEnd();
  EXPECT_EQ(a.AwaitEnd(), End::kStopped);
  EXPECT_EQ(Holder(), "");
}

TEST_F(LeaderElectorRunTest, StopsWhileItWaits) {
  Replica a(server_.config(), "a");
  a.AwaitLead();
  Replica b(server_.config(), "b");
  b.AwaitSleep();
  b.Stop();
  EXPECT_EQ(b.AwaitEnd(), End::kStopped);
  EXPECT_EQ(Holder(), "a");
}

// No replica compares times of day.
TEST_F(LeaderElectorRunTest, AJumpOfTheTimeOfDayHasNoEffect) {
  Replica a(server_.config(), "a");
  a.AwaitLead();
  Replica b(server_.config(), "b");
  b.AwaitSleep();
  for (const auto jump : {-24h, 48h}) {
    a.clock().SetWallTime(a.clock().WallNow() + jump);
    b.clock().SetWallTime(b.clock().WallNow() - 2 * jump);
    for (int i = 0; i < 10; ++i) {
      EXPECT_TRUE(a.elector().IsLeader());
      a.TryAgain();
      b.TryAgain();
    }
  }
  EXPECT_EQ(GetLease()->spec.lease_transitions, 0);
  EXPECT_FALSE(b.leads());
}

// A suspended machine wakes up with a clock that has stood still.
TEST_F(LeaderElectorRunTest, StopsAfterASuspension) {
  Replica a(server_.config(), "a");
  a.AwaitLead();
  a.AwaitSleep();
  a.clock().Suspend(kDeadline);
  EXPECT_FALSE(a.elector().IsLeader());
  a.clock().Advance(kRetry);
  a.AwaitStopOfWork();
  EXPECT_EQ(a.AwaitEnd(), End::kLost);
  EXPECT_EQ(Holder(), "a");
}

TEST_F(LeaderElectorRunTest, WorkThatEndsByItselfHasLostTheLease) {
  FakeClock clock;
  LeaderElector elector(
      server_.config(),
      {.resource_name = "scheduler", .resource_namespace = "default"}, "a",
      "minisched", clock);
  EXPECT_EQ(elector.Run({}, [](const std::stop_token&) { return false; }),
            End::kLost);
  EXPECT_EQ(Holder(), "a");
}

TEST_F(LeaderElectorRunTest, StopsWhenItSeesAnotherHolder) {
  Replica a(server_.config(), "a");
  a.AwaitLead();
  a.AwaitSleep();
  Lease lease = *GetLease();
  lease.spec.holder_identity = "b";
  client_.Update(lease);
  EXPECT_TRUE(a.elector().IsLeader());
  a.clock().Advance(kRetry);
  a.AwaitStopOfWork();
  EXPECT_FALSE(a.elector().IsLeader());
  EXPECT_EQ(a.AwaitEnd(), End::kLost);
  EXPECT_EQ(Holder(), "b");
}

TEST_F(LeaderElectorRunTest, CreatesADeletedLeaseAgain) {
  Replica a(server_.config(), "a");
  a.AwaitLead();
  a.AwaitSleep();
  client_.Delete<Lease>("default", "scheduler");
  a.TryAgain();
  EXPECT_TRUE(a.elector().IsLeader());
  EXPECT_EQ(Holder(), "a");
}

TEST_F(LeaderElectorRunTest, KeepsTheRestOfTheLease) {
  Lease lease;
  lease.metadata.namespace_name = "default";
  lease.metadata.name = "scheduler";
  lease.metadata.labels = {{"team", "blue"}};
  lease.metadata.annotations = {{"note", "ours"}};
  lease.spec.strategy = "OldestEmulationVersion";
  client_.Create(lease);
  Replica a(server_.config(), "a");
  a.AwaitLead();
  a.TryAgain();
  const auto renewed = GetLease();
  EXPECT_EQ(renewed->metadata.labels, lease.metadata.labels);
  EXPECT_EQ(renewed->metadata.annotations, lease.metadata.annotations);
  EXPECT_EQ(renewed->spec.strategy, "OldestEmulationVersion");
  EXPECT_EQ(renewed->spec.lease_duration_seconds, 15);
}

TEST_F(LeaderElectorRunTest, RecordsEventsOfTheLease) {
  {
    Replica a(server_.config(), "a");
    a.AwaitLead();
    a.Stop();
    a.AwaitEnd();
  }
  std::vector<std::string> notes;
  const std::string uid = GetLease()->metadata.uid;
  for (const auto& event : client_.List<Event>().items) {
    notes.push_back(event->note);
    EXPECT_EQ(event->type, "Normal");
    EXPECT_EQ(event->reason, "LeaderElection");
    EXPECT_EQ(event->reporting_controller, "minisched");
    EXPECT_EQ(event->regarding,
              (ObjectReference{"coordination.k8s.io/v1", "Lease", "default",
                               "scheduler", uid}));
  }
  EXPECT_THAT(notes,
              UnorderedElementsAre("a became leader", "a stopped leading"));
}

// The leader is cut off, and stops by its own clock.
TEST(LeaderElectorCutOffTest, StopsAtTheRenewDeadline) {
  LeaseServer server([](const std::string& operation, int n) {
    return operation == "create" || (operation == "get" && n == 1) ? 0 : 500;
  });
  Replica a(server.config(), "a", /*work_ends=*/false);
  a.AwaitLead();
  const auto start = a.clock().Now();
  for (int i = 1; i < 5; ++i) {
    a.TryAgain();
    EXPECT_EQ(a.clock().Now(), start + i * kRetry);
    EXPECT_TRUE(a.elector().IsLeader());
  }
  a.clock().Advance(2s - 1ns);
  EXPECT_TRUE(a.elector().IsLeader());
  a.clock().Advance(1ns);
  EXPECT_FALSE(a.elector().IsLeader());
  a.AwaitStopOfWork();

  // The check fails if the work does not stop.
  EXPECT_EQ(a.elector().Check(), std::nullopt);
  a.clock().Advance(kLease - kDeadline + 20s);
  EXPECT_EQ(a.elector().Check(), std::nullopt);
  a.clock().Advance(1ns);
  EXPECT_EQ(a.elector().Check(),
            "failed election to renew leadership on lease default/scheduler");
  a.LetWorkEnd();
  EXPECT_EQ(a.AwaitEnd(), End::kLost);
  EXPECT_EQ(a.elector().Check(), std::nullopt);
  EXPECT_EQ(server.lease().spec.holder_identity, "a");
}

TEST(LeaderElectorCutOffTest, AServerThatHangsDoesNotHoldItUp) {
  LeaseServer server([](const std::string& operation, int) {
    return operation == "update" ? LeaseServer::kHangs : 0;
  });
  Replica a(server.config(), "a");
  a.AwaitLead();
  a.AwaitSleep();
  const auto start = a.clock().Now();
  a.clock().Advance(kRetry);
  server.AwaitOperations(3);
  a.clock().AwaitDeadline(start + kDeadline);
  a.clock().Advance(kDeadline - kRetry);
  EXPECT_EQ(a.AwaitEnd(), End::kLost);
}

// The machine is suspended during a renewal. The work may have ended since
// then.
TEST(LeaderElectorCutOffTest, ARenewalAfterTheDeadlineIsTooLate) {
  std::atomic<FakeClock*> clock = nullptr;
  LeaseServer server([&](const std::string& operation, int) {
    if (operation == "update") clock.load()->Suspend(kDeadline - kRetry);
    return 0;
  });
  Replica a(server.config(), "a");
  a.AwaitLead();
  clock = &a.clock();
  a.AwaitSleep();
  a.clock().Advance(kRetry);
  EXPECT_EQ(a.AwaitEnd(), End::kLost);
  EXPECT_EQ(server.lease().spec.holder_identity, "a");
}

// The response to the first request comes when the deadline has passed.
TEST(LeaderElectorCutOffTest, DoesNotLeadAfterALateResponse) {
  std::atomic<FakeClock*> clock = nullptr;
  LeaseServer server([&](const std::string& operation, int) {
    if (operation == "create") clock.load()->Suspend(kDeadline);
    return operation == "get" && clock == nullptr ? 500 : 0;
  });
  Replica a(server.config(), "a");
  a.AwaitSleep();
  clock = &a.clock();
  a.TryAgain();
  EXPECT_FALSE(a.elector().IsLeader());
  EXPECT_FALSE(a.leads());
  EXPECT_EQ(server.lease().spec.holder_identity, "a");
  a.TryAgain();
  a.AwaitLead();
  EXPECT_EQ(server.lease().spec.lease_transitions, 0);
}

}  // namespace
}  // namespace minisched
