#include "minisched/client/pod_status.h"

#include <gtest/gtest.h>

#include <string>

#include "minisched/api/conditions.h"
#include "testing/embedded_server.h"

namespace minisched {
namespace {

const Time kTenOClock = ParseTime("2026-11-21T10:00:00Z");

const Condition kPreempted = {.type = "DisruptionTarget",
                              .status = "True",
                              .reason = "PreemptionByScheduler",
                              .message = "more important pods"};

// pod_condition_test.cc tests conditions, conflicts and deleted pods.
class PodStatusTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Pod> Get() {
    return client_.Get<Pod>("default", "web");
  }

  bool Nominate(const std::string& node) {
    return PatchPodStatus(client_, Get(), {.nominated_node_name = node},
                          kTenOClock);
  }

  void Bind() {
    Binding binding;
    binding.metadata = {.name = "web", .namespace_name = "default"};
    binding.target = {.kind = "Node", .name = "node-1"};
    client_.Bind(binding);
  }

  EmbeddedServer server_{
      "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: "
      "[{name: c, image: i}]}}"};
  Client client_{server_.config()};
};

TEST_F(PodStatusTest, SetsAndClearsTheNominatedNode) {
  EXPECT_TRUE(Nominate("node-1"));
  EXPECT_EQ(Get()->status.nominated_node_name, "node-1");
  EXPECT_TRUE(Nominate("node-2"));
  EXPECT_EQ(Get()->status.nominated_node_name, "node-2");
  EXPECT_TRUE(Nominate(""));
  EXPECT_EQ(Get()->status.nominated_node_name, "");
}

TEST_F(PodStatusTest, SendsOnePatchForAConditionAndANode) {
  const auto old = Get();
  const PodStatusChange change{.condition = kPreempted,
                               .nominated_node_name = "node-1"};
  EXPECT_TRUE(PatchPodStatus(client_, old, change, kTenOClock));
  const auto pod = Get();
  EXPECT_EQ(std::stoi(pod->metadata.resource_version),
            std::stoi(old->metadata.resource_version) + 1);
  EXPECT_EQ(pod->status.nominated_node_name, "node-1");
  EXPECT_NE(FindCondition(pod->status.conditions, "DisruptionTarget"), nullptr);
}

TEST_F(PodStatusTest, SendsNothingIfTheStatusIsAlreadySo) {
  EXPECT_TRUE(Nominate("node-1"));
  const auto pod = Get();
  EXPECT_TRUE(Nominate("node-1"));
  EXPECT_TRUE(PatchPodStatus(client_, pod, {}, kTenOClock));
  EXPECT_EQ(Get()->metadata.resource_version, pod->metadata.resource_version);
}

TEST_F(PodStatusTest, LeavesTheNodeUnlessTheChangeNamesOne) {
  EXPECT_TRUE(Nominate("node-1"));
  EXPECT_TRUE(
      PatchPodStatus(client_, Get(), {.condition = kPreempted}, kTenOClock));
  EXPECT_EQ(Get()->status.nominated_node_name, "node-1");
}

// Somebody has nominated the pod anew since the caller decided.
TEST_F(PodStatusTest, DoesNotClearANewerNode) {
  EXPECT_TRUE(Nominate("node-1"));
  const auto known = Get();
  EXPECT_TRUE(Nominate("node-2"));
  EXPECT_TRUE(PatchPodStatus(
      client_, known, {.condition = kPreempted, .nominated_node_name = ""},
      kTenOClock));
  const auto pod = Get();
  EXPECT_EQ(pod->status.nominated_node_name, "node-2");
  EXPECT_NE(FindCondition(pod->status.conditions, "DisruptionTarget"), nullptr);
  EXPECT_TRUE(PatchPodStatus(client_, known, {.nominated_node_name = "node-3"},
                             kTenOClock));
  EXPECT_EQ(Get()->status.nominated_node_name, "node-3");
}

TEST_F(PodStatusTest, IsSentAgainAfterAFailureThreeTimes) {
  const auto fail = [&](const std::string& fault, int times) {
    server_.server().SetFaults("faults: [{match: {verbs: [patch]}, times: " +
                               std::to_string(times) + ", " + fault + "}]");
  };
  fail("error: {code: 500}", 3);
  EXPECT_TRUE(Nominate("node-1"));
  fail("error: {code: 503, after: true}", 1);
  EXPECT_TRUE(Nominate("node-2"));
  EXPECT_EQ(Get()->status.nominated_node_name, "node-2");
  fail("error: {code: 500}", 4);
  EXPECT_THROW(Nominate("node-3"), ApiError);
  fail("error: {code: 403}", 1);
  EXPECT_THROW(Nominate("node-3"), ApiError);
}

TEST_F(PodStatusTest, ChangesABoundPodOnlyIfAskedTo) {
  Bind();
  EXPECT_FALSE(Nominate("node-1"));
  EXPECT_FALSE(
      PatchPodStatus(client_, Get(), {.condition = kPreempted}, kTenOClock));
  EXPECT_TRUE(PatchPodStatus(client_, Get(),
                             {.condition = kPreempted, .even_if_bound = true},
                             kTenOClock));
  const auto pod = Get();
  const Condition* condition =
      FindCondition(pod->status.conditions, "DisruptionTarget");
  ASSERT_NE(condition, nullptr);
  EXPECT_EQ(condition->reason, "PreemptionByScheduler");
}

TEST_F(PodStatusTest, ReturnsFalseIfTheVictimIsGone) {
  Bind();
  const auto victim = Get();
  client_.Delete<Pod>("default", "web", {.grace_period_seconds = 0});
  EXPECT_FALSE(PatchPodStatus(client_, victim,
                              {.condition = kPreempted, .even_if_bound = true},
                              kTenOClock));
}

}  // namespace
}  // namespace minisched
