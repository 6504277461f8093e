#include "minisched/api/pod_requests.h"

#include <gtest/gtest.h>

#include <string>

#include "minisched/api/json.h"

namespace minisched {
namespace {

// Returns the resources as text: "cpu=1500m memory=1Gi".
std::string ToString(const ResourceList& list) {
  std::string text;
  for (const auto& [resource, quantity] : list) {
    text += (text.empty() ? "" : " ") + resource + "=" + quantity.ToString();
  }
  return text;
}

// Returns the requests of a pod with this spec.
std::string Requests(const std::string& spec) {
  return ToString(PodRequests(FromJson<Pod>(R"({"spec":)" + spec + "}")));
}

TEST(PodRequestsTest, AddsUpContainers) {
  EXPECT_EQ(Requests(R"({"containers":[
      {"resources":{"requests":{"cpu":"1","memory":"1Gi"}}},
      {"resources":{"requests":{"cpu":"500m"}}}]})"),
            "cpu=1500m memory=1Gi");
  EXPECT_EQ(Requests(R"({"containers":[{}]})"), "");
}

TEST(PodRequestsTest, TakesTheLargestInitContainer) {
  EXPECT_EQ(Requests(R"({
      "initContainers":[{"resources":{"requests":{"cpu":"2"}}},
                        {"resources":{"requests":{"cpu":"3","memory":"1"}}}],
      "containers":[{"resources":{"requests":{"cpu":"1","memory":"2"}}}]})"),
            "cpu=3 memory=2");
}

TEST(PodRequestsTest, CountsSidecarsWithWhatStartsAfterThem) {
  EXPECT_EQ(Requests(R"({
      "initContainers":[
          {"resources":{"requests":{"cpu":"4"}}},
          {"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},
          {"resources":{"requests":{"cpu":"2"}}}],
      "containers":[{"resources":{"requests":{"cpu":"2500m"}}}]})"),
            "cpu=4");
  EXPECT_EQ(Requests(R"({
      "initContainers":[
          {"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},
          {"resources":{"requests":{"cpu":"4"}}}],
      "containers":[{"resources":{"requests":{"cpu":"2"}}}]})"),
            "cpu=5");
}

TEST(PodRequestsTest, AddsTheOverhead) {
  EXPECT_EQ(Requests(R"({"overhead":{"cpu":"100m"},"initContainers":[
      {"resources":{"requests":{"cpu":"2"}}}],
      "containers":[{}]})"),
            "cpu=2100m");
}

TEST(PodRequestsTest, PodLevelRequestsReplaceThoseOfContainers) {
  EXPECT_EQ(Requests(R"({
      "resources":{"requests":{"cpu":"1","hugepages-2Mi":"2Mi",
                               "example.com/gpu":"9"}},
      "overhead":{"cpu":"100m"},
      "initContainers":[{"resources":{"requests":{"cpu":"3"}}}],
      "containers":[{"resources":{"requests":{"cpu":"2","memory":"1Gi",
                                              "example.com/gpu":"1"}}}]})"),
            "cpu=1100m example.com/gpu=1 hugepages-2Mi=2Mi memory=1Gi");
}

TEST(PodRequestsTest, SkipsPodLevelRequests) {
  const auto pod = FromJson<Pod>(R"({
      "spec":{"resources":{"requests":{"cpu":"1","hugepages-2Mi":"2Mi"}},
              "overhead":{"cpu":"100m"},
              "containers":[{"resources":{"requests":{"cpu":"2"}}}]},
      "status":{"resources":{"requests":{"cpu":"9"}}}})");
  EXPECT_EQ(ToString(PodRequests(pod, {.use_status_resources = true,
                                       .skip_pod_level_resources = true})),
            "cpu=2100m");
}

// Each case has the name of upstream's case in TestPodResourceRequests.
TEST(PodRequestsTest, CountsTheStatusOfResizedPods) {
  const std::string infeasible =
      R"("conditions":[{"type":"PodResizePending","status":"True",
                        "reason":"Infeasible"}],)";
  const std::string four_cpus = R"({"spec":{"containers":[
      {"name":"c","resources":{"requests":{"cpu":"4"}}}]},"status":{)";
  const std::string has_two_cpus = R"("containerStatuses":[
      {"name":"c","resources":{"requests":{"cpu":"2"}}}]}})";
  const std::string sidecar_four_cpus = R"({"spec":{"initContainers":[
      {"name":"c","restartPolicy":"Always",
       "resources":{"requests":{"cpu":"4"}}}]},"status":{)";
  const std::string sidecar_has_two_cpus = R"("initContainerStatuses":[
      {"name":"c","resources":{"requests":{"cpu":"2"}}}]}})";
  const struct {
    std::string name;
    std::string pod;
    std::string requests;
    std::string without_status;
  } tests[] = {
      {"resized, infeasible", four_cpus + infeasible + has_two_cpus, "cpu=2",
       "cpu=4"},
      {"resized, infeasible & in-progress",
       R"({"spec":{"containers":[
           {"name":"c","resources":{"requests":{"cpu":"6"}}}]},"status":{)" +
           infeasible + R"("containerStatuses":[
           {"name":"c","allocatedResources":{"cpu":"4"},
            "resources":{"requests":{"cpu":"2"}}}]}})",
       "cpu=4", "cpu=6"},
      {"resized, no resize status", four_cpus + has_two_cpus, "cpu=4", "cpu=4"},
      {"resized: per-resource 3-way maximum", R"({"spec":{"containers":[
           {"name":"c","resources":{"requests":{
               "cpu":"30m","memory":"20M","ephemeral-storage":"10G"}}}]},
        "status":{"containerStatuses":[
           {"name":"c","allocatedResources":{
                "cpu":"20m","memory":"10M","ephemeral-storage":"30G"},
            "resources":{"requests":{
                "cpu":"10m","memory":"30M","ephemeral-storage":"20G"}}}]}})",
       "cpu=30m ephemeral-storage=30G memory=30M",
       "cpu=30m ephemeral-storage=10G memory=20M"},
      {"resized, restartable init container, infeasible",
       sidecar_four_cpus + infeasible + sidecar_has_two_cpus, "cpu=2", "cpu=4"},
      {"resized, restartable init container, no resize status",
       sidecar_four_cpus + sidecar_has_two_cpus, "cpu=4", "cpu=4"},
      {"regularcontainers with empty requests, but status with non-empty "
       "requests",
       R"({"spec":{"containers":[{"name":"c"}]},"status":{)" + has_two_cpus,
       "cpu=2", ""},
      {"of two containers, one shrinks and one grows",
       R"({"spec":{"containers":[
           {"name":"a","resources":{"requests":{"cpu":"2"}}},
           {"name":"b","resources":{"requests":{"cpu":"1"}}}]},
        "status":{"containerStatuses":[
           {"name":"a","allocatedResources":{"cpu":"1"}},
           {"name":"b","allocatedResources":{"cpu":"2"}}]}})",
       "cpu=3", "cpu=3"},
      {"init container, with a status", R"({"spec":{"initContainers":[
           {"name":"c","resources":{"requests":{"cpu":"1"}}}]},
        "status":{"initContainerStatuses":[
           {"name":"c","resources":{"requests":{"cpu":"2"}}}]}})",
       "cpu=2", "cpu=1"},
      {"allocated, not yet actuated", R"({"spec":{"containers":[
           {"name":"c","resources":{"requests":{"cpu":"1"}}}]},
        "status":{"containerStatuses":[
           {"name":"c","allocatedResources":{"cpu":"2"}}]}})",
       "cpu=2", "cpu=1"},
      {"infeasible, without a status of the container",
       four_cpus + infeasible + R"("phase":"Running"}})", "", "cpu=4"},
      {"the status of the pod has the sums",
       four_cpus + R"(
           "allocatedResources":{"cpu":"3","memory":"1M"},
           "resources":{"requests":{"cpu":"5"}},)" +
           has_two_cpus,
       "cpu=5 memory=1M", "cpu=4"},
  };
  for (const auto& test : tests) {
    SCOPED_TRACE(test.name);
    const auto pod = FromJson<Pod>(test.pod);
    EXPECT_EQ(ToString(PodRequests(pod, {.use_status_resources = true})),
              test.requests);
    EXPECT_EQ(ToString(PodRequests(pod)), test.without_status);
  }
}

TEST(PodRequestsTest, IgnoresTheStatusOfAnUnknownContainer) {
  const auto pod = FromJson<Pod>(
      R"({"spec":{"containers":[
          {"name":"c","resources":{"requests":{"cpu":"1"}}}]},
         "status":{"containerStatuses":[
          {"name":"d","resources":{"requests":{"cpu":"2"}}}]}})");
  EXPECT_EQ(ToString(PodRequests(pod, {.use_status_resources = true})),
            "cpu=1");
}

// The first case is one of upstream's TestCalculatePodResourcesWithResize.
TEST(PodRequestsTest, CountsTheStatusOfResizedPodLevelRequests) {
  const std::string spec = R"({"spec":{
      "resources":{"requests":{"cpu":"700m","memory":"800M"}},
      "containers":[{"name":"c","resources":{"requests":{"cpu":"500m"}}}]},
    "status":{)";
  const std::string has = R"("resources":{"requests":{"cpu":"500m"}},)";
  const auto allocated = [](const std::string& memory) {
    return R"("allocatedResources":{"memory":")" + memory + R"("}}})";
  };
  const std::string infeasible =
      R"("conditions":[{"type":"PodResizePending","reason":"Infeasible"}],)";
  const std::string deferred =
      R"("conditions":[{"type":"PodResizePending","reason":"Deferred"}],)";
  const struct {
    std::string name;
    std::string pod;
    std::string requests;
  } tests[] = {
      {"Pod with pod-level resources and with deferred resize",
       spec + deferred + has + allocated("500M"), "cpu=700m memory=800M"},
      {"allocated more", spec + has + allocated("900M"),
       "cpu=700m memory=900M"},
      {"infeasible", spec + infeasible + has + allocated("500M"),
       "cpu=500m memory=500M"},
      {"infeasible, without memory in the status",
       spec + infeasible + R"("resources":{"requests":{"cpu":"1"}}}})",
       "cpu=1"},
      {"infeasible, without resources in the status",
       spec + infeasible + allocated("900M"), "cpu=700m memory=800M"},
  };
  for (const auto& test : tests) {
    SCOPED_TRACE(test.name);
    const auto pod = FromJson<Pod>(test.pod);
    EXPECT_EQ(ToString(PodRequests(pod, {.use_status_resources = true})),
              test.requests);
    EXPECT_EQ(ToString(PodRequests(pod)), "cpu=700m memory=800M");
  }
}

// Returns the requests of a pod with this spec, with the requests that
// upstream's scores assume for containers without requests.
std::string RequestsWithDefaults(const std::string& spec) {
  const ResourceList defaults = {{"cpu", Quantity::Parse("100m")},
                                 {"memory", Quantity::Parse("200Mi")}};
  return ToString(PodRequests(FromJson<Pod>(R"({"spec":)" + spec + "}"),
                              {.non_missing_container_requests = defaults}));
}

TEST(PodRequestsTest, FillsInMissingRequestsOfContainers) {
  EXPECT_EQ(RequestsWithDefaults("{}"), "");
  EXPECT_EQ(RequestsWithDefaults(R"({"containers":[{},{}]})"),
            "cpu=200m memory=400Mi");
  // Zero is a request.
  EXPECT_EQ(RequestsWithDefaults(R"({"containers":[
      {"resources":{"requests":{"cpu":"0","nvidia.com/gpu":"1"}}},
      {"resources":{"requests":{"memory":"1Mi"}}}]})"),
            "cpu=100m memory=201Mi nvidia.com/gpu=1");
}

TEST(PodRequestsTest, FillsInMissingRequestsOfInitContainers) {
  EXPECT_EQ(RequestsWithDefaults(R"({"initContainers":[{}],"containers":[
      {"resources":{"requests":{"cpu":"1m","memory":"1"}}}]})"),
            "cpu=100m memory=200Mi");
  EXPECT_EQ(RequestsWithDefaults(R"({
      "initContainers":[{"restartPolicy":"Always"}],"containers":[{}]})"),
            "cpu=200m memory=400Mi");
}

TEST(PodRequestsTest, PodLevelRequestsReplaceDefaults) {
  EXPECT_EQ(RequestsWithDefaults(R"({
      "resources":{"requests":{"cpu":"1m"}},"overhead":{"memory":"1Mi"},
      "containers":[{},{}]})"),
            "cpu=1m memory=401Mi");
}

// The spec counts with the default, although the status reports less.
TEST(PodRequestsTest, FillsInMissingRequestsOfTheSpecBesideAStatus) {
  const auto pod = FromJson<Pod>(R"({
      "spec":{"containers":[{"name":"c"}]},
      "status":{"containerStatuses":[
          {"name":"c","resources":{"requests":{"cpu":"2m"}}}]}})");
  EXPECT_EQ(
      ToString(PodRequests(pod, {.use_status_resources = true,
                                 .non_missing_container_requests =
                                     {{"cpu", Quantity::Parse("100m")}}})),
      "cpu=100m");
}

// The first four cases have the names of upstream's cases in
// TestIsPodLevelResourcesSet.
TEST(PodRequestsTest, DetectsPodLevelRequests) {
  const struct {
    std::string name;
    std::string resources;
    bool set;
  } tests[] = {
      {"nil resources struct", "null", false},
      {"empty resources struct", "{}", false},
      {"only unsupported resource requests set",
       R"({"requests":{"ephemeral-storage":"1Mi"}})", false},
      {"unsupported and suported resources requests set",
       R"({"requests":{"ephemeral-storage":"1Mi","cpu":"1m"}})", true},
      {"only limits", R"({"limits":{"cpu":"1m"}})", false},
      {"huge pages", R"({"requests":{"hugepages-2Mi":"2Mi"}})", true},
  };
  for (const auto& test : tests) {
    SCOPED_TRACE(test.name);
    EXPECT_EQ(IsPodLevelRequestsSet(FromJson<Pod>(R"({"spec":{"resources":)" +
                                                  test.resources + "}}")),
              test.set);
  }
}

TEST(PodRequestsTest, SumsSaturate) {
  EXPECT_EQ(Requests(R"({"containers":[
      {"resources":{"requests":{"cpu":"1e29"}}},
      {"resources":{"requests":{"cpu":"1e29","memory":"1"}}}]})"),
            "cpu=170141183460469231731687303715884105727e-9 memory=1");
}

}  // namespace
}  // namespace minisched
