#include "lab/apiserver/kinds/pods.h"

#include "lab/apiserver/kinds/strategy_testing.h"

namespace minisched::apiserver {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PodsTest : public StrategyTest {
 protected:
  Json CreatePod(const Json& patch = Json::object()) {
    return Create("v1", "Pod",
                  With(R"({
      "metadata": {"name": "web", "labels": {"app": "web"}},
      "spec": {"containers": [{"name": "a", "image": "i"}]}})"_json,
                       patch));
  }
  // Creates a running pod. `ready` is the status of its condition Ready.
  Json RunPod(const std::string& ready = "True") {
    const Json pod = CreatePod(R"({"spec": {"nodeName": "n"}})"_json);
    return Update(
        pod,
        {{"status",
          {{"phase", "Running"},
           {"conditions", {{{"type", "Ready"}, {"status", ready}}}}}}},
        "status");
  }
  Json CreateBudget(const Json& spec, const Json& status,
                    const char* name = "budget") {
    const Json budget =
        Create("policy/v1", "PodDisruptionBudget",
               {{"metadata", {{"name", name}}},
                {"spec", With(R"({"selector": {}})"_json, spec)}});
    return Update(budget,
                  {{"status", With({{"observedGeneration", 1}}, status)}},
                  "status");
  }

  std::vector<std::string> Bind(const Json& patch, bool dry_run = false) {
    const Json plain = R"({"metadata": {"name": "web"},
                           "target": {"kind": "Node", "name": "n"}})"_json;
    const Json binding = With(plain, patch);
    return Errors([&] { BindPod(registry_, "t", "web", binding, dry_run); });
  }
  std::vector<std::string> Bind() { return Bind(Json::object()); }
  std::vector<std::string> Evict(const Json& patch = Json::object()) {
    const Json eviction = With(R"({"metadata": {"name": "web"}})"_json, patch);
    return Errors([&] { EvictPod(registry_, "t", "web", eviction, false); });
  }
  // Evicts the pod. Returns why the pod's budget does not allow the eviction,
  // or "" if the eviction succeeds.
  std::string Refusal() {
    try {
      EvictPod(registry_, "t", "web", R"({"metadata": {"name": "web"}})"_json,
               false);
    } catch (const StatusError& error) {
      EXPECT_EQ(error.code(), 429);
      return error.ToJson()["details"]["causes"][0]["message"];
    }
    return "";
  }
};

TEST_F(PodsTest, BindsAPodOnce) {
  Create("v1", "Node", R"({"metadata": {"name": "n", "labels": {
    "topology.kubernetes.io/zone": "z", "other": "x"}}})"_json);
  const Json pod = CreatePod();
  EXPECT_THAT(Bind(Json::object(), true), IsEmpty());
  EXPECT_EQ(Stored(pod), pod);

  EXPECT_THAT(Bind({{"metadata",
                     {{"uid", UidOf(pod)},
                      {"annotations", {{"a", "1"}}},
                      {"labels", {{"l", "2"}}}}}}),
              IsEmpty());
  const Json bound = Stored(pod);
  EXPECT_EQ(bound["spec"]["nodeName"], "n");
  EXPECT_EQ(bound["metadata"]["annotations"], R"({"a": "1"})"_json);
  EXPECT_EQ(bound["metadata"]["labels"], R"({
    "app": "web", "l": "2", "topology.kubernetes.io/zone": "z"})"_json);
  EXPECT_EQ(bound["metadata"]["generation"], 1);
  EXPECT_EQ(bound["status"]["conditions"],
            Json::array({{{"type", "PodScheduled"},
                          {"status", "True"},
                          {"lastProbeTime", nullptr},
                          {"lastTransitionTime", registry_.Now()}}}));
  EXPECT_THAT(Bind(),
              ElementsAre("409 Operation cannot be fulfilled on pods/binding "
                          "\"web\": pod web is already assigned to node "
                          "\"n\""));
}

TEST_F(PodsTest, AnEvictionAppliesItsDeleteOptions) {
  const Json pod = RunPod();
  EXPECT_THAT(Evict(R"({"metadata": {"name": "other"}})"_json),
              ElementsAre("400 name in URL does not match name in Eviction "
                          "object"));
  EXPECT_THAT(Evict(R"({"deleteOptions": {"preconditions":
                        {"uid": "u"}}})"_json),
              ElementsAre("409 Operation cannot be fulfilled on Pod \"web\": "
                          "the UID in the precondition (u) does not match the "
                          "UID in record (" +
                          UidOf(pod) +
                          "). The object might have been deleted and then "
                          "recreated"));
  EXPECT_EQ(Stored(pod), pod);

  EXPECT_THAT(
      Evict({{"deleteOptions",
              {{"gracePeriodSeconds", 7},
               {"preconditions",
                {{"resourceVersion", pod["metadata"]["resourceVersion"]}}}}}}),
      IsEmpty());
  const Json evicted = Stored(pod);
  EXPECT_EQ(evicted["metadata"]["deletionGracePeriodSeconds"], 7);
  EXPECT_EQ(FindBy(evicted["status"]["conditions"], "type", "DisruptionTarget"),
            Json({{"type", "DisruptionTarget"},
                  {"status", "True"},
                  {"reason", "EvictionByEvictionAPI"},
                  {"message", "Eviction API: evicting"},
                  {"lastProbeTime", nullptr},
                  {"lastTransitionTime", registry_.Now()}}));
}

TEST_F(PodsTest, RefusesToEvictBeyondTheBudget) {
  const Json pod = RunPod();
  const Json budget = CreateBudget(R"({"minAvailable": 1})"_json, R"({
    "currentHealthy": 1, "desiredHealthy": 1})"_json);
  EXPECT_EQ(Refusal(),
            "The disruption budget budget needs 1 healthy pods and has 1 "
            "currently");
  Update(budget, R"({"spec": {"minAvailable": 2}})"_json);
  EXPECT_EQ(Refusal(),
            "The disruption budget budget is still being processed by the "
            "server.");
  EXPECT_EQ(Stored(pod), pod);

  CreateBudget(Json::object(), Json::object(), "other");
  EXPECT_THAT(Evict(), ElementsAre("500 This pod has more than one "
                                   "PodDisruptionBudget, which the eviction "
                                   "subresource does not support."));
  Update(pod, R"({"status": {"phase": "Failed"}})"_json, "status");
  EXPECT_THAT(Evict(), IsEmpty());
}

TEST_F(PodsTest, EvictsAnUnreadyPodIfEnoughPodsAreHealthy) {
  RunPod("False");
  const Json budget = CreateBudget(R"({"minAvailable": 1})"_json, R"({
    "currentHealthy": 0, "desiredHealthy": 1})"_json);
  EXPECT_NE(Refusal(), "");
  Update(budget, R"({"status": {"currentHealthy": 1}})"_json, "status");
  EXPECT_EQ(Refusal(), "");
}

TEST_F(PodsTest, AlwaysAllowEvictsAnUnreadyPod) {
  RunPod("False");
  CreateBudget(R"({"minAvailable": 1,
                   "unhealthyPodEvictionPolicy": "AlwaysAllow"})"_json,
               Json::object());
  EXPECT_EQ(Refusal(), "");
}

}  // namespace
}  // namespace minisched::apiserver
