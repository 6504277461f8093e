#include "unsupported.h"

#include <gtest/gtest.h>

#include <string>

#include "minisched/api/json.h"

namespace minisched {
namespace {

std::string Find(const std::string& spec) {
  return FindUnsupported(FromJson<Pod>(R"({"spec":)" + spec + "}"));
}

TEST(UnsupportedTest, AcceptsOrdinaryPods) {
  EXPECT_EQ(Find("{}"), "");
  EXPECT_EQ(Find(R"({"volumes":[{"name":"v","emptyDir":{}}]})"), "");
  EXPECT_EQ(Find(R"({"affinity":{"podAffinity":
                {"preferredDuringSchedulingIgnoredDuringExecution":[{}]}}})"),
            "");
  EXPECT_EQ(Find(R"({"topologySpreadConstraints":
                [{"whenUnsatisfiable":"ScheduleAnyway"}]})"),
            "");
}

TEST(UnsupportedTest, ReturnsAllUnsupportedRequirements) {
  EXPECT_EQ(Find(R"({"volumes":[{"persistentVolumeClaim":{"claimName":"c"}}],
                     "resourceClaims":[{"name":"gpu"}]})"),
            "persistent volume claims, resource claims");
  EXPECT_EQ(Find(R"({"volumes":[{"ephemeral":{}}]})"),
            "persistent volume claims");
  EXPECT_EQ(Find(R"({"affinity":
          {"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
               [{"topologyKey":"zone"}]},
           "podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
               [{"topologyKey":"zone"}]}}})"),
            "required pod affinity, required pod anti-affinity");
  EXPECT_EQ(Find(R"({"topologySpreadConstraints":
                [{"whenUnsatisfiable":"DoNotSchedule"}]})"),
            "topology spread constraints");
}

}  // namespace
}  // namespace minisched
