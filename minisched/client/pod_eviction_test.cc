#include "minisched/client/pod_eviction.h"

#include <gtest/gtest.h>

#include <string>

#include "minisched/api/conditions.h"
#include "testing/embedded_server.h"

namespace minisched {
namespace {

const Condition kWhy = {.type = "DisruptionTarget",
                        .status = "True",
                        .reason = "PreemptionByScheduler"};

class PodEvictionTest : public ::testing::Test {
 protected:
  PodEvictionTest() {
    Binding binding;
    binding.metadata = {.name = "web", .namespace_name = "default"};
    binding.target = {.kind = "Node", .name = "node-1"};
    client_.Bind(binding);
  }

  std::shared_ptr<const Pod> Get() {
    return client_.Get<Pod>("default", "web");
  }

  bool Evict(const std::shared_ptr<const Pod>& pod) {
    return Await<bool>([&](auto done) {
      EvictPodAsync(client_, pod, kWhy, ParseTime("2026-11-21T10:00:00Z"), {},
                    done);
    });
  }

  void DeleteNow() {
    client_.Delete<Pod>("default", "web", {.grace_period_seconds = 0});
  }

  // The finalizer keeps the pod after its deletion.
  EmbeddedServer server_{
      "{apiVersion: v1, kind: Pod, metadata: {name: web, finalizers: [a.b/c]}, "
      "spec: {terminationGracePeriodSeconds: 7, containers: "
      "[{name: c, image: i}]}}"};
  Client client_{server_.config()};
};

TEST_F(PodEvictionTest, DeletesThePodAndSaysWhy) {
  EXPECT_TRUE(Evict(Get()));
  const auto pod = Get();
  EXPECT_TRUE(pod->metadata.deletion_timestamp);
  const Condition* why = FindCondition(pod->status.conditions, kWhy.type);
  ASSERT_NE(why, nullptr);
  EXPECT_EQ(why->reason, "PreemptionByScheduler");
}

TEST_F(PodEvictionTest, ReturnsFalseIfThePodIsGone) {
  const auto pod = Get();
  client_.Patch<Pod>("default", "web", PatchType::kMerge,
                     R"({"metadata":{"finalizers":null}})");
  DeleteNow();
  EXPECT_FALSE(Evict(pod));
}

TEST_F(PodEvictionTest, DoesNotDeleteANamesake) {
  auto old = std::make_shared<Pod>(*Get());
  old->metadata.uid = "another";
  EXPECT_FALSE(Evict(old));
  EXPECT_FALSE(Get()->metadata.deletion_timestamp);
}

TEST_F(PodEvictionTest, ReturnsFalseIfThePodIsGoneAfterThePatch) {
  server_.server().SetFaults(
      "faults: [{match: {verbs: [delete]}, error: {code: 404}}]");
  EXPECT_FALSE(Evict(Get()));
}

TEST_F(PodEvictionTest, ADeletionWhoseResponseIsLostIsASuccess) {
  server_.server().SetFaults(
      "faults: [{match: {verbs: [delete]}, drop: after}]");
  EXPECT_TRUE(Evict(Get()));
}

TEST_F(PodEvictionTest, ReturnsFalseIfTheResponseIsLostAndThePodIsGone) {
  auto marked = std::make_shared<Pod>(
      *client_.Patch<Pod>("default", "web", PatchType::kMerge,
                          R"({"metadata":{"finalizers":null}})"));
  marked->status.conditions = {kWhy};  // so that no PATCH is sent
  DeleteNow();
  server_.server().SetFaults(
      "faults: [{match: {verbs: [delete]}, drop: before}, "
      "{match: {verbs: [get]}, times: 2, error: {code: 503}}]");
  EXPECT_FALSE(Evict(marked));
}

// A webhook may refuse with any code.
TEST_F(PodEvictionTest, AConflictIsAFailureIfThePodIsStillThere) {
  server_.server().SetFaults(
      "faults: [{match: {verbs: [delete]}, error: {code: 409}}]");
  EXPECT_THROW(Evict(Get()), ApiError);
}

TEST_F(PodEvictionTest, AnImpossibleNameIsAFailure) {
  auto odd = std::make_shared<Pod>(*Get());
  odd->metadata.name = "a/b";
  EXPECT_THROW(Evict(odd), std::invalid_argument);
}

TEST_F(PodEvictionTest, FailsIfARequestFails) {
  server_.server().SetFaults(
      "faults: [{match: {verbs: [delete]}, error: {code: 403}}]");
  EXPECT_THROW(Evict(Get()), ApiError);
  server_.server().SetFaults(
      "faults: [{match: {verbs: [patch]}, error: {code: 403}}]");
  auto unmarked = std::make_shared<Pod>(*Get());
  unmarked->status.conditions.clear();
  EXPECT_THROW(Evict(unmarked), ApiError);
  EXPECT_FALSE(Get()->metadata.deletion_timestamp);
}

}  // namespace
}  // namespace minisched
