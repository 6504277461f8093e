// Tests replicas of a scheduler: what a replica does before, while and after it
// leads.
#include "leader_election.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "minisched/api/lease.h"
#include "minisched/metrics/health_checks.h"
#include "tests/running_scheduler_testing.h"

namespace minisched {
namespace {

using ::testing::HasSubstr;

// A scheduler that is the leader while `leads_` is true.
class LeadingSchedulerTest : public SchedulerTest {
 protected:
  void MakeScheduler(const std::string& manifest) {
    StartServer(manifest);
    trace_ = std::make_unique<Trace>("minisched", clock_);
    own_client_ = std::make_unique<Client>(server_->config());
    SchedulerOptions options;
    options.is_leader = [this] { return leads_after_-- > 0 || leads_; };
    leading_ = std::make_unique<Scheduler>(
        AppContext{*own_client_, "minisched", *trace_, {}, metrics_}, options,
        clock_);
  }
  // Runs Schedule() until StopLeading().
  void Lead() {
    thread_ = std::jthread([this](const std::stop_token& stop) {
      released_ = leading_->Schedule(stop);
      ended_ = true;
    });
  }
  // Returns what Schedule() has returned.
  bool StopLeading() {
    thread_.request_stop();
    thread_.join();
    return released_;
  }
  ~LeadingSchedulerTest() override {
    if (thread_.joinable()) StopLeading();
    leading_.reset();
  }

  void HangBindings() {
    server_->server().SetFaults(
        "faults: [{match: {resource: pods/binding}, hang: before}]");
  }
  // Blocks until the server has got a Binding.
  void AwaitBinding() {
    while (CountBindings() == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  std::atomic<bool> leads_ = true;
  // How often is_leader() returns true before it returns `leads_`.
  std::atomic<int> leads_after_ = 0;
  std::unique_ptr<Trace> trace_;
  std::unique_ptr<Client> own_client_;
  std::unique_ptr<Scheduler> leading_;
  std::atomic<bool> released_ = false;  // what Schedule() has returned
  std::atomic<bool> ended_ = false;
  std::jthread thread_;
};

TEST_F(LeadingSchedulerTest, SchedulesNothingBeforeItLeads) {
  MakeScheduler(NodeYaml("node-1") + PodYaml("early"));
  EXPECT_FALSE(leading_->has_synced());
  ASSERT_TRUE(leading_->Start({}));
  EXPECT_TRUE(leading_->has_synced());
  CreatePod("late");
  EXPECT_EQ(CountBindings(), 0);
  Lead();
  AwaitPlaces(2);
  EXPECT_TRUE(StopLeading());
  EXPECT_EQ(CountBindings(), 2);
}

TEST_F(LeadingSchedulerTest, DoesNotStartAfterAStop) {
  MakeScheduler(NodeYaml("node-1"));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(leading_->Start(stop.get_token()));
  EXPECT_FALSE(leading_->has_synced());
}

// The Lease ends between two pods.
TEST_F(LeadingSchedulerTest, PopsNoPodAfterTheLease) {
  MakeScheduler(NodeYaml("node-1") + PodYaml("a"));
  ASSERT_TRUE(leading_->Start({}));
  leads_ = false;
  Lead();
  thread_.join();
  EXPECT_FALSE(released_);
  EXPECT_EQ(CountBindings(), 0);
  EXPECT_EQ(WhyPending(*client_, "a"), "");
}

// The Lease ends while a node is selected, or while the pod waits on Permit.
TEST_F(LeadingSchedulerTest, SendsNoBindingAfterTheLease) {
  MakeScheduler(NodeYaml("node-1") + PodYaml("a"));
  ASSERT_TRUE(leading_->Start({}));
  leads_after_ = 1;  // when the pod is popped
  leads_ = false;
  Lead();
  while (leads_after_ > -1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_FALSE(StopLeading());
  EXPECT_EQ(CountBindings(), 0);
}

// The Lease ends while the Binding waits in the client, whose guard refuses it.
TEST_F(LeadingSchedulerTest, ARefusedBindingIsNotAFailure) {
  MakeScheduler(NodeYaml("node-1") + PodYaml("a"));
  ASSERT_TRUE(leading_->Start({}));
  leads_after_ = 2;  // when the pod is popped, and before its Binding
  leads_ = false;
  Lead();
  while (leads_after_ > -2) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_FALSE(StopLeading());
  EXPECT_EQ(CountBindings(), 0);
  const auto records = trace_->LastOfEachPod();
  ASSERT_EQ(records.size(), 1);
  EXPECT_EQ(std::get<PodRecord>(records[0]->state).place, Place::kAssumed);
}

// The clock stands still, so a wait for five seconds would not end.
TEST_F(LeadingSchedulerTest, CancelsItsBindingsAfterTheLease) {
  MakeScheduler(NodeYaml("node-1") + PodYaml("a"));
  HangBindings();
  ASSERT_TRUE(leading_->Start({}));
  Lead();
  AwaitBinding();
  leads_ = false;
  EXPECT_FALSE(StopLeading());
}

TEST_F(LeadingSchedulerTest, WaitsForItsBindingsWhileItLeads) {
  MakeScheduler(NodeYaml("node-1") + PodYaml("a"));
  HangBindings();
  ASSERT_TRUE(leading_->Start({}));
  Lead();
  AwaitBinding();
  const auto start = clock_.Now();
  thread_.request_stop();
  AwaitThat([this] { return ended_.load(); });
  EXPECT_GE(clock_.Now() - start, std::chrono::seconds(5));
  EXPECT_FALSE(StopLeading());
}

// A program with leader election, on the real clock.
class ElectedReplica {
 public:
  explicit ElectedReplica(const RestConfig& config, bool elects = true)
      : client_(config), thread_([this, elects] { Run(elects); }) {}

  // Returns the error of the program, or "".
  std::string StopAndAwaitEnd() {
    stop_.request_stop();
    return AwaitEnd();
  }
  std::string AwaitEnd() {
    if (thread_.joinable()) thread_.join();
    return error_;
  }
  ~ElectedReplica() { StopAndAwaitEnd(); }

  // Returns the body of the response.
  std::string Health(const std::string& path) {
    http::Request request{.method = "GET", .path = path};
    request.query["verbose"];
    const auto reply = health_.Answer(request);
    return reply ? reply->body : "";
  }

 private:
  void Run(bool elects) {
    Trace trace("minisched");
    SchedulerOptions options;
    auto& election = options.configuration.leader_election;
    election.leader_elect = elects;
    election.resource_namespace = "default";
    try {
      RunElected({client_, "minisched", trace, stop_.get_token(),
                  Metrics::Unread(), health_},
                 options);
    } catch (const std::runtime_error& error) {
      error_ = error.what();
    }
  }

  Client client_;
  HealthChecks health_;
  std::string error_;
  std::stop_source stop_;
  std::jthread thread_;  // last: it uses the other members
};

class ReplicasTest : public SchedulerTest {
 protected:
  std::string AwaitHolder(const std::string& other_than = "") {
    std::string holder;
    AwaitThat([&] {
      const auto leases = client_->List<Lease>().items;
      if (leases.empty()) return false;
      holder = leases[0]->spec.holder_identity.value_or("");
      return !holder.empty() && holder != other_than;
    });
    return holder;
  }
};

TEST_F(ReplicasTest, SendOneBindingAPod) {
  StartServer(NodeYaml("node-1"));
  ElectedReplica first(server_->config());
  const std::string holder = AwaitHolder();
  ElectedReplica second(server_->config());
  AwaitThat([&] { return !second.Health("/readyz").empty(); });
  for (int i = 0; i < 40; ++i) CreatePod("a-" + std::to_string(i));
  EXPECT_EQ(first.StopAndAwaitEnd(), "");
  AwaitHolder(holder);
  for (int i = 0; i < 40; ++i) CreatePod("b-" + std::to_string(i));
  AwaitPlaces(80);
  EXPECT_EQ(second.StopAndAwaitEnd(), "");
  EXPECT_EQ(CountBindings(), 80);
}

TEST_F(ReplicasTest, ALostLeaseEndsTheProgram) {
  StartServer(NodeYaml("node-1"));
  ElectedReplica replica(server_->config());
  AwaitHolder();
  Lease lease = *client_->List<Lease>().items.at(0);
  lease.spec.holder_identity = "other";
  client_->Update(lease);
  EXPECT_EQ(replica.AwaitEnd(), "Leaderelection lost");
}

TEST_F(ReplicasTest, HaveHealthChecks) {
  StartServer(NodeYaml("node-1"));
  ElectedReplica replica(server_->config());
  AwaitHolder();
  EXPECT_EQ(replica.Health("/readyz"),
            "[+]leaderElection ok\n[+]shutdown ok\n[+]sched-handler-sync ok\n"
            "readyz check passed\n");
  EXPECT_EQ(replica.Health("/healthz"),
            "[+]leaderElection ok\nhealthz check passed\n");
  EXPECT_EQ(replica.Health("/livez"), "[+]ping ok\nlivez check passed\n");
  replica.StopAndAwaitEnd();
  EXPECT_EQ(replica.Health("/readyz"), "");
}

TEST_F(ReplicasTest, WithoutElectionThereIsNoLease) {
  StartServer(NodeYaml("node-1") + PodYaml("a"));
  ElectedReplica replica(server_->config(), /*elects=*/false);
  AwaitPlaces(1);
  EXPECT_EQ(replica.Health("/healthz"), "[+]ping ok\nhealthz check passed\n");
  EXPECT_EQ(replica.Health("/readyz"),
            "[+]shutdown ok\n[+]sched-handler-sync ok\nreadyz check passed\n");
  EXPECT_THAT(client_->List<Lease>().items, ::testing::IsEmpty());
}

}  // namespace
}  // namespace minisched
