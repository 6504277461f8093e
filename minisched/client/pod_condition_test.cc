#include "minisched/client/pod_condition.h"

#include <gtest/gtest.h>

#include <stop_token>
#include <string>

#include "minisched/api/conditions.h"
#include "minisched/client/errors.h"
#include "testing/embedded_server.h"

namespace minisched {
namespace {

const Time kStart = ParseTime("2026-11-21T10:00:00Z");

Condition Unschedulable(const std::string& why) {
  return {.type = "PodScheduled",
          .status = "False",
          .reason = "Unschedulable",
          .message = why};
}

class PodConditionTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Pod> Get() {
    return client_.Get<Pod>("default", "web");
  }

  void Change(const std::string& patch) {
    client_.Patch<Pod>("default", "web", PatchType::kMerge, patch);
  }

  // Makes the next PATCHes fail with 409.
  void SetConflicts(int times) {
    server_.server().SetFaults(
        "faults: [{match: {verbs: [patch]}, times: " + std::to_string(times) +
        ", error: {code: 409}}]");
  }

  std::string Message() {
    const auto pod = Get();
    const Condition* found =
        FindCondition(pod->status.conditions, "PodScheduled");
    return found == nullptr ? "" : found->message;
  }

  EmbeddedServer server_{
      "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: "
      "[{name: c, image: i}]}}"};
  Client client_{server_.config()};
};

TEST_F(PodConditionTest, SendsNothingIfThePodHasTheCondition) {
  EXPECT_TRUE(PatchPodCondition(client_, Get(), Unschedulable("full"), kStart));
  const auto pod = Get();
  EXPECT_EQ(FindCondition(pod->status.conditions, "PodScheduled")
                ->last_transition_time,
            kStart);
  EXPECT_TRUE(PatchPodCondition(client_, pod, Unschedulable("full"), kStart));
  EXPECT_EQ(Get()->metadata.resource_version, pod->metadata.resource_version);
  EXPECT_TRUE(
      PatchPodCondition(client_, pod, Unschedulable("too hot"), kStart));
  EXPECT_EQ(Message(), "too hot");
}

TEST_F(PodConditionTest, IsSetAfterThePodHasChanged) {
  const auto old = Get();
  Change(R"({"metadata":{"labels":{"a":"b"}}})");
  EXPECT_TRUE(PatchPodCondition(client_, old, Unschedulable("full"), kStart));
  EXPECT_EQ(Message(), "full");
  EXPECT_EQ(Get()->metadata.labels.at("a"), "b");
}

TEST_F(PodConditionTest, IsNotSetOnABoundPod) {
  const auto old = Get();
  Binding binding;
  binding.metadata = {.name = "web", .namespace_name = "default"};
  binding.target = {.kind = "Node", .name = "node-1"};
  client_.Bind(binding);
  EXPECT_FALSE(PatchPodCondition(client_, old, Unschedulable("full"), kStart));
  EXPECT_EQ(Message(), "");
}

TEST_F(PodConditionTest, IsNotSetOnADeletedPodOrItsNamesake) {
  const auto old = Get();
  client_.Delete<Pod>("default", "web", {.grace_period_seconds = 0});
  EXPECT_FALSE(PatchPodCondition(client_, old, Unschedulable("full"), kStart));
  Pod namesake;
  namesake.metadata = {.name = "web", .namespace_name = "default"};
  namesake.spec.containers = {{.name = "c", .image = "i"}};
  client_.Create(namesake);
  EXPECT_FALSE(PatchPodCondition(client_, old, Unschedulable("full"), kStart));
  EXPECT_EQ(Message(), "");
}

TEST_F(PodConditionTest, IsNotSetIfThePodIsDeletedAfterAConflict) {
  const auto old = Get();
  client_.Delete<Pod>("default", "web", {.grace_period_seconds = 0});
  SetConflicts(1);
  EXPECT_FALSE(PatchPodCondition(client_, old, Unschedulable("full"), kStart));
}

TEST_F(PodConditionTest, FailsAfterFourConflicts) {
  SetConflicts(3);
  EXPECT_TRUE(PatchPodCondition(client_, Get(), Unschedulable("full"), kStart));
  SetConflicts(4);
  EXPECT_THROW(
      PatchPodCondition(client_, Get(), Unschedulable("too hot"), kStart),
      ApiError);
  EXPECT_EQ(Message(), "full");
}

TEST_F(PodConditionTest, AStopTokenCancelsThePatch) {
  server_.server().SetFaults(
      "faults: [{match: {verbs: [patch]}, hang: before}]");
  std::stop_source stop;
  EXPECT_THROW(Await<bool>([&](auto done) {
                 PatchPodConditionAsync(client_, Get(), Unschedulable("full"),
                                        kStart, stop.get_token(), done);
                 stop.request_stop();
               }),
               Cancelled);
}

}  // namespace
}  // namespace minisched
