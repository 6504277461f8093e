// The cases of client-go's tools/leaderelection/leaderelection_test.go. Where a
// case there fails a call with context.Canceled, the server refuses it here.

#include "minisched/leaderelection/leader_elector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "minisched/base/fake_clock.h"
#include "minisched/leaderelection/leader_elector_testing.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::MatchesRegex;
using Peer = LeaderElectorPeer;
using Operations = std::vector<std::string>;

LeaderElectionConfiguration Durations(std::chrono::nanoseconds lease,
                                      std::chrono::nanoseconds renew,
                                      std::chrono::nanoseconds retry) {
  return {.lease_duration = lease,
          .renew_deadline = renew,
          .retry_period = retry,
          .resource_name = "bar",
          .resource_namespace = "foo"};
}

LeaseSpec HeldBy(const std::string& holder, int duration = 0) {
  LeaseSpec spec{.holder_identity = holder};
  if (duration > 0) spec.lease_duration_seconds = duration;
  return spec;
}

struct TryCase {
  std::string name;
  std::optional<LeaseSpec> lease;  // on the server
  std::optional<LeaseSpec> observed = {};
  Clock::Duration observed_for{};  // before now
  Clock::Duration retry_after{};
  Operations operations;
  bool success = true;
  bool transition = false;
  std::string holder = "baz";
};

class TryAcquireOrRenewLeasesTest : public ::testing::TestWithParam<TryCase> {};

TEST_P(TryAcquireOrRenewLeasesTest, IsAsInClientGo) {
  const TryCase& test = GetParam();
  LeaseServer server;
  if (test.lease) server.SetLease(*test.lease);
  FakeClock clock;
  LeaderElector elector(server.config(), Durations(10s, 5s, 1s), "baz", "test",
                        clock);
  if (test.observed) {
    Peer::SetObserved(elector, *test.observed,
                      clock.BootNow() - test.observed_for);
  }
  bool success = Peer::TryAcquireOrRenew(elector);
  if (success != test.success && test.retry_after > 0s) {
    clock.Advance(test.retry_after - 1ns);
    EXPECT_FALSE(Peer::TryAcquireOrRenew(elector));
    clock.Advance(1ns);
    success = Peer::TryAcquireOrRenew(elector);
  }
  EXPECT_EQ(success, test.success);
  EXPECT_EQ(elector.IsLeader(), test.success);
  EXPECT_EQ(elector.GetLeader(), test.holder);
  EXPECT_EQ(server.operations(), test.operations);
  EXPECT_EQ(Peer::Observed(elector).lease_transitions.value_or(0),
            test.transition ? 1 : 0);
  EXPECT_EQ(server.lease().spec, Peer::Observed(elector));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, TryAcquireOrRenewLeasesTest,
    ::testing::Values(
        TryCase{.name = "acquire from no object",
                .operations = {"get", "create"}},
        TryCase{.name = "acquire from object without annotations",
                .lease = LeaseSpec(),
                .operations = {"get", "update"},
                .transition = true},
        // With one more try than upstream: just before the end of the Lease.
        TryCase{
            .name = "acquire from led object with the lease duration seconds",
            .lease = HeldBy("bing", 3),
            .retry_after = 3s,
            .operations = {"get", "get", "get", "update"},
            .transition = true},
        TryCase{.name = "acquire from unled object",
                .lease = HeldBy(""),
                .operations = {"get", "update"},
                .transition = true},
        TryCase{.name = "acquire from led, unacked object",
                .lease = HeldBy("bing"),
                .observed = HeldBy("bing"),
                .observed_for = 1000h,
                .operations = {"get", "update"},
                .transition = true},
        TryCase{.name = "acquire from empty led, acked object",
                .lease = HeldBy(""),
                .observed = LeaseSpec(),
                .observed_for = -1000h,
                .operations = {"get", "update"},
                .transition = true},
        TryCase{.name = "don't acquire from led, acked object",
                .lease = HeldBy("bing"),
                .observed = LeaseSpec(),
                .observed_for = -1000h,
                .operations = {"get"},
                .success = false,
                .holder = "bing"},
        TryCase{.name = "renew already acquired object",
                .lease = HeldBy("baz"),
                .observed = HeldBy("baz"),
                .observed_for = -1000h,
                .operations = {"get", "update"}}),
    [](const auto& tested) {
      std::string name = tested.param.name;
      for (char& c : name) c = std::isalnum(c) ? c : '_';
      return name;
    });

TEST(ReleaseLeaseLeasesTest, ReleaseAcquiredLockFromNoObject) {
  LeaseServer server;
  server.SetLease(HeldBy("baz"));
  FakeClock clock;
  LeaderElector elector(server.config(), Durations(10s, 5s, 1s), "baz", "test",
                        clock);
  ASSERT_TRUE(Peer::TryAcquireOrRenew(elector));
  EXPECT_EQ(elector.GetLeader(), "baz");
  clock.Advance(1s);
  EXPECT_TRUE(Peer::Release(elector));
  EXPECT_EQ(elector.GetLeader(), "");
  EXPECT_EQ(server.operations(),
            (Operations{"get", "update", "get", "update"}));
  const LeaseSpec spec = server.lease().spec;
  EXPECT_EQ(spec.holder_identity, "");
  EXPECT_EQ(spec.lease_duration_seconds, 1);
  EXPECT_EQ(spec.renew_time, MicroTime{clock.WallNow()});
  EXPECT_EQ(spec.acquire_time, MicroTime{clock.WallNow()});
  EXPECT_EQ(spec.lease_transitions.value_or(0), 0);
}

TEST(ReleaseLeaseLeasesTest, ReleaseMethodCallsGet) {
  LeaseServer server;
  server.SetLease(HeldBy("baz", 10));
  FakeClock clock;
  LeaderElector elector(server.config(), Durations(10s, 5s, 1s), "baz", "test",
                        clock);
  EXPECT_TRUE(Peer::Release(elector));
  EXPECT_EQ(server.operations(), (Operations{"get", "update"}));
}

TEST(ReleaseLeaseLeasesTest, DoesNotReleaseTheLeaseOfAnother) {
  LeaseServer server;
  server.SetLease(HeldBy("bing", 10));
  FakeClock clock;
  LeaderElector elector(server.config(), Durations(10s, 5s, 1s), "baz", "test",
                        clock);
  Peer::SetObserved(elector, HeldBy("baz", 10), clock.BootNow());
  EXPECT_TRUE(Peer::Release(elector));
  EXPECT_EQ(server.operations(), (Operations{"get"}));
}

TEST(ReleaseRetriesOnConflictTest, RepeatsGetAndUpdate) {
  LeaseServer server([](const std::string& operation, int n) {
    return operation == "update" && n <= 2 ? 409 : 0;
  });
  server.SetLease(HeldBy("baz", 10));
  FakeClock clock;
  LeaderElector elector(server.config(), Durations(10s, 5s, 1s), "baz", "test",
                        clock);
  EXPECT_TRUE(Peer::Release(elector));
  EXPECT_EQ(server.operations(),
            (Operations{"get", "update", "get", "update", "get", "update"}));
  EXPECT_EQ(server.lease().spec.holder_identity, "");
}

TEST(ReleaseRetriesOnConflictTest, EndsAtTheRenewDeadline) {
  LeaseServer server([](const std::string& operation, int) {
    return operation == "update" ? LeaseServer::kHangs : 0;
  });
  server.SetLease(HeldBy("baz", 10));
  FakeClock clock;
  LeaderElector elector(server.config(), Durations(10s, 5s, 1s), "baz", "test",
                        clock);
  std::jthread release([&] { EXPECT_FALSE(Peer::Release(elector)); });
  server.AwaitOperations(2);
  clock.AwaitDeadline(clock.Now() + 5s);
  clock.Advance(5s);
}

// Runs an elector on a real clock, whose work ends when it is asked to stop.
class ElectorRun {
 public:
  ElectorRun(LeaseServer& server, bool release, std::stop_source stop = {})
      : stop_(std::move(stop)),
        elector_(server.config(), Durations(15s, 2s, 50ms), "baz", "test"),
        thread_([this, release] {
          end_ =
              elector_.Run(stop_.get_token(), [&](const std::stop_token& stop) {
                RealClock().SleepFor(1h, stop);
                return release;
              });
        }) {}

  void Stop() { stop_.request_stop(); }
  LeaderElector::End AwaitEnd() {
    thread_.join();
    return end_;
  }

 private:
  std::stop_source stop_;
  LeaderElector elector_;
  LeaderElector::End end_{};
  std::jthread thread_;
};

TEST(ReleaseOnCancellationLeasesTest, ReleaseOnCancellationOfUpdate) {
  // The second renewal hangs until it is cancelled.
  LeaseServer server([](const std::string& operation, int n) {
    return operation == "update" && n == 2 ? LeaseServer::kHangs : 0;
  });
  {
    ElectorRun run(server, true);
    server.AwaitOperations(4);
    run.Stop();
    EXPECT_EQ(run.AwaitEnd(), LeaderElector::End::kStopped);
  }
  EXPECT_EQ(server.operations(),
            (Operations{"get", "create", "update", "update", "get", "update"}));
  EXPECT_EQ(server.lease().spec.holder_identity, "");
  EXPECT_THAT(server.events(),
              ElementsAre("Normal LeaderElection baz became leader",
                          "Normal LeaderElection baz stopped leading"));
}

TEST(ReleaseOnCancellationLeasesTest, ReleaseOnCancellationOfGet) {
  LeaseServer server([](const std::string& operation, int n) {
    if (operation == "update") return n == 1 ? 500 : 0;
    return operation == "get" && n == 2 ? LeaseServer::kHangs : 0;
  });
  {
    ElectorRun run(server, true);
    server.AwaitOperations(4);
    run.Stop();
    EXPECT_EQ(run.AwaitEnd(), LeaderElector::End::kStopped);
  }
  EXPECT_EQ(server.operations(),
            (Operations{"get", "create", "update", "get", "get", "update"}));
  EXPECT_EQ(server.lease().spec.holder_identity, "");
  EXPECT_THAT(server.events(),
              ElementsAre("Normal LeaderElection baz became leader",
                          "Normal LeaderElection baz stopped leading"));
}

TEST(FastPathLeaderElectionTest, ExerciseFastPathAfterLockAcquired) {
  std::stop_source stop;
  LeaseServer server([&](const std::string& operation, int n) {
    if (operation == "update" && n == 2) stop.request_stop();
    return 0;
  });
  ElectorRun(server, false, stop).AwaitEnd();
  EXPECT_EQ(server.operations(),
            (Operations{"get", "create", "update", "update"}));
}

TEST(FastPathLeaderElectionTest, FallbackToSlowPathAfterFastPathFails) {
  std::stop_source stop;
  LeaseServer server([&](const std::string& operation, int n) {
    if (operation == "update" && n == 4) stop.request_stop();
    return operation == "update" && n == 2 ? 409 : 0;
  });
  ElectorRun(server, false, stop).AwaitEnd();
  EXPECT_EQ(server.operations(),
            (Operations{"get", "create", "update", "update", "get", "update",
                        "update"}));
}

TEST(LeaderElectionConfigValidationTest, RefusesWhatCannotWork) {
  const auto error_of = [](const LeaderElectionConfiguration& configuration,
                           const std::string& identity) -> std::string {
    try {
      const LeaderElector elector(ConfigFor("http://127.0.0.1:1"),
                                  configuration, identity, "test");
      return "";
    } catch (const ConfigError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(error_of(Durations(15s, 2s, 1s), "baz"), "");
  EXPECT_EQ(error_of(Durations(15s, 2s, 1s), ""), "Lock identity is empty");
  EXPECT_EQ(error_of(Durations(2s, 2s, 1s), "baz"),
            "leaseDuration must be greater than renewDeadline");
  EXPECT_EQ(error_of(Durations(15s, 1200ms, 1s), "baz"),
            "renewDeadline must be greater than retryPeriod*JitterFactor");
  EXPECT_EQ(error_of(Durations(15s, 2s, 0s), "baz"),
            "retryPeriod must be greater than zero");
  EXPECT_EQ(error_of(Durations(15s, 0s, -1s), "baz"),
            "renewDeadline must be greater than zero");
  EXPECT_EQ(error_of(Durations(0s, -1s, -2s), "baz"),
            "leaseDuration must be greater than zero");
}

TEST(NewElectionIdentityTest, IsHostNameAndUuid) {
  EXPECT_THAT(NewElectionIdentity(),
              MatchesRegex(".+_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]"
                           "[0-9a-f]{3}-[0-9a-f]{12}"));
  EXPECT_NE(NewElectionIdentity(), NewElectionIdentity());
}

}  // namespace
}  // namespace minisched
