#include "minisched/api/pod_requests.h"

#include <gtest/gtest.h>

#include <string>

#include "minisched/api/json.h"

namespace minisched {
namespace {

// Returns the requests of a pod with this spec, as "cpu=1500m memory=1Gi".
std::string Requests(const std::string& spec) {
  std::string text;
  const auto pod = FromJson<Pod>(R"({"spec":)" + spec + "}");
  for (const auto& [resource, quantity] : PodRequests(pod)) {
    text += (text.empty() ? "" : " ") + resource + "=" + quantity.ToString();
  }
  return text;
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

TEST(PodRequestsTest, SumsSaturate) {
  EXPECT_EQ(Requests(R"({"containers":[
      {"resources":{"requests":{"cpu":"1e29"}}},
      {"resources":{"requests":{"cpu":"1e29","memory":"1"}}}]})"),
            "cpu=170141183460469231731687303715884105727e-9 memory=1");
}

}  // namespace
}  // namespace minisched
