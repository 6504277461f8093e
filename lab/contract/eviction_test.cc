// Evictions, and disruption budgets, which can forbid evictions.

#include "lab/contract/contract_testing.h"

namespace minisched {
namespace {

class EvictionTest : public ContractTest {
 protected:
  Reply Evict(const std::string& pod, const json& options = nullptr) {
    json eviction =
        Named(pod, R"({"apiVersion": "policy/v1", "kind": "Eviction"})"_json);
    if (!options.is_null()) eviction["deleteOptions"] = options;
    return Post("pods/" + pod + "/eviction", eviction);
  }

  // Creates a bound and ready pod that the budget "b" selects.
  void CreateReady(const std::string& name) {
    Create("pods", Pod(name, R"({"metadata": {"labels": {"app": "x"}},
                                 "spec": {"nodeName":
                                          "contract-nowhere"}})"_json));
    EXPECT_THAT(
        StrategicPatch("pods/" + name + "/status",
                       R"({"status": {"phase": "Running", "conditions": [
                           {"type": "Ready", "status": "True"}]}})"_json),
        Answers(200));
  }

  void CreateBudget(const json& spec) {
    json budget = Named(
        "b", R"({"spec": {"selector": {"matchLabels": {"app": "x"}}}})"_json);
    budget["spec"].update(spec);
    Create("poddisruptionbudgets", budget);
  }

  // Blocks until the budget's status counts this number of healthy pods.
  void AwaitHealthy(int pods) {
    Await("the budget to count the pods", [&] {
      const json status = Read("poddisruptionbudgets/b").at("status");
      return status.value("currentHealthy", 0) == pods &&
             status.value("desiredHealthy", 0) > 0;
    });
  }

  static testing::Matcher<const Reply&> TooMany(const std::string& why) {
    return Refuses(
        429, "TooManyRequests",
        "Cannot evict pod as it would violate the pod's disruption "
        "budget.",
        {{"causes", {{{"reason", "DisruptionBudget"}, {"message", why}}}}});
  }
};

TEST_F(EvictionTest, DeletesThePod) {
  Create("pods", Pod("p"));
  EXPECT_THAT(Evict("p"), Answers(201, R"({
    "kind": "Status", "status": "Success", "code": 201})"_json));
  EXPECT_THAT(Get("pods/p"), Answers(404));
}

TEST_F(EvictionTest, UsesTheGracePeriodOfTheDeleteOptions) {
  CreateReady("p");
  EXPECT_THAT(Evict("p", {{"gracePeriodSeconds", 7}}), Answers(201));
  EXPECT_THAT(Read("pods/p"), JsonHas(R"({
    "metadata": {"deletionTimestamp": "...",
                 "deletionGracePeriodSeconds": 7},
    "status": {"conditions": [
      {"type": "Ready"},
      {"type": "DisruptionTarget", "status": "True",
       "reason": "EvictionByEvictionAPI",
       "message": "Eviction API: evicting"}]}})"_json));
}

// A scheduler that preempts doesn't use the Eviction API, because a budget
// must not keep it from making room.
TEST_F(EvictionTest, ASchedulerPreemptsDespiteTheBudget) {
  CreateBudget({{"minAvailable", 1}});
  CreateReady("p");
  AwaitHealthy(1);
  // Without a time, kube-controller-manager takes the condition for stale.
  EXPECT_THAT(StrategicPatch("pods/p/status", R"({"status": {"conditions": [
        {"type": "DisruptionTarget", "status": "True",
         "lastTransitionTime": "2100-01-01T00:00:00Z",
         "reason": "PreemptionByScheduler"}]}})"_json),
              Answers(200));
  EXPECT_THAT(Delete("pods/p"), Answers(200));
  EXPECT_THAT(Read("pods/p"), JsonHas(R"({
    "metadata": {"deletionTimestamp": "...",
                 "deletionGracePeriodSeconds": 30},
    "status": {"conditions": [
      {"type": "DisruptionTarget", "reason": "PreemptionByScheduler"},
      {"type": "Ready"}]}})"_json));
}

TEST_F(EvictionTest, ABudgetForbidsEvictions) {
  CreateBudget({{"minAvailable", 1}});
  CreateReady("p");
  AwaitHealthy(1);
  EXPECT_THAT(Evict("p"), TooMany("The disruption budget b needs 1 healthy "
                                  "pods and has 1 currently"));
  EXPECT_THAT(Read("pods/p"),
              JsonHas(R"({"metadata": {"deletionTimestamp": null}})"_json));
}

TEST_F(EvictionTest, ABudgetAllowsSomeEvictions) {
  CreateReady("p");
  CreateReady("q");
  CreateBudget({{"minAvailable", 1}});
  AwaitHealthy(2);
  EXPECT_THAT(Read("poddisruptionbudgets/b").at("status"),
              JsonHas(R"({"disruptionsAllowed": 1, "desiredHealthy": 1,
                          "expectedPods": 2})"_json));
  EXPECT_THAT(Evict("p"), Answers(201));
  EXPECT_THAT(Evict("q"), Answers(429));
}

TEST_F(EvictionTest, ABudgetDoesNotProtectPendingPods) {
  CreateBudget({{"minAvailable", 1}});
  Create("pods", Pod("p", R"({"metadata": {"labels": {"app": "x"}}})"_json));
  EXPECT_THAT(Evict("p"), Answers(201));
}

// A dry run changes neither the pod's conditions nor the budget's status.
TEST_F(EvictionTest, ADryRunChangesNothing) {
  CreateBudget({{"minAvailable", 1}});
  CreateReady("p");
  CreateReady("q");
  Create("pods", Pod("pending"));
  AwaitHealthy(2);
  const json pod = Read("pods/p");
  const json pending = Read("pods/pending");
  const json budget = Read("poddisruptionbudgets/b");
  for (const std::string name : {"p", "pending"}) {
    EXPECT_THAT(Evict(name, R"({"dryRun": ["All"]})"_json), Answers(201));
    EXPECT_THAT(Post("pods/" + name + "/eviction?dryRun=All", Named(name)),
                Answers(201));
  }
  EXPECT_EQ(Read("pods/p"), pod);
  EXPECT_EQ(Read("pods/pending"), pending);
  EXPECT_EQ(Read("poddisruptionbudgets/b"), budget);
}

TEST_F(EvictionTest, RejectsAnotherNameAndAMissingPod) {
  EXPECT_THAT(Evict("none"),
              Refuses(404, "NotFound", "pods \"none\" not found"));
  EXPECT_THAT(Post("pods/p/eviction", Named("q")),
              Refuses(400, "BadRequest",
                      "name in URL does not match name in Eviction object"));
}

TEST_F(EvictionTest, CreatesABudgetWithAnEmptyStatus) {
  EXPECT_THAT(
      Post("poddisruptionbudgets", Named("b", R"({"spec": {"minAvailable": 1,
        "selector": {"matchLabels": {"app": "x"}}}})"_json)),
      Answers(201, R"({
        "kind": "PodDisruptionBudget", "apiVersion": "policy/v1",
        "metadata": {"generation": 1},
        "spec": {"minAvailable": 1},
        "status": {"disruptionsAllowed": 0, "currentHealthy": 0,
                   "desiredHealthy": 0, "expectedPods": 0}})"_json));
}

TEST_F(EvictionTest, RejectsInvalidBudgets) {
  const auto expect = [&](const char* spec, const std::string& error) {
    EXPECT_THAT(
        Post("poddisruptionbudgets", Named("b", {{"spec", json::parse(spec)}})),
        Invalid("PodDisruptionBudget.policy", "b", {error}))
        << spec;
  };
  expect(R"({"minAvailable": "x"})",
         "spec.minAvailable: Invalid value: \"x\": a valid percent string must "
         "be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', "
         "regex used for validation is '[0-9]+%')");
  expect(R"({"maxUnavailable": -1})",
         "spec.maxUnavailable: Invalid value: -1: must be greater than or "
         "equal to 0");
  expect(R"({"maxUnavailable": "150%"})",
         "spec.maxUnavailable: Invalid value: \"150%\": must not be greater "
         "than 100%");
}

}  // namespace
}  // namespace minisched
