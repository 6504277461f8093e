#include "plugins/unsupported.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/plugin_testing.h"
#include "tests/status_testing.h"

namespace minisched {
namespace {

std::string PreFilterUnsupported(const std::string& spec) {
  CycleState state;
  PreFilterResult left_over;
  const Status status =
      Unsupported().PreFilter(state, PodOfSpec(spec), {}, left_over);
  EXPECT_FALSE(left_over.node_names);
  return Describe(status);
}

TEST(UnsupportedTest, AcceptsOrdinaryPods) {
  EXPECT_EQ(PreFilterUnsupported("{}"), "Success");
  EXPECT_EQ(PreFilterUnsupported(R"({"volumes":[{"name":"v","emptyDir":{}}]})"),
            "Success");
  EXPECT_EQ(PreFilterUnsupported(R"({"affinity":{"podAffinity":
                {"preferredDuringSchedulingIgnoredDuringExecution":[{}]}}})"),
            "Success");
  EXPECT_EQ(PreFilterUnsupported(R"({"topologySpreadConstraints":
                [{"whenUnsatisfiable":"DoNotSchedule"}]})"),
            "Success");
}

TEST(UnsupportedTest, AcceptsRequiredAffinity) {
  EXPECT_EQ(PreFilterUnsupported(R"({"affinity":{"nodeAffinity":
                {"requiredDuringSchedulingIgnoredDuringExecution":
                 {"nodeSelectorTerms":[]}}}})"),
            "Success");
  EXPECT_EQ(PreFilterUnsupported(R"({"affinity":
          {"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
               [{"topologyKey":"zone"}]},
           "podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
               [{"topologyKey":"zone"}]}}})"),
            "Success");
}

TEST(UnsupportedTest, RejectsThePodWithAllUnsupportedRequirements) {
  const std::string prefix =
      "UnschedulableAndUnresolvable: not supported by this scheduler: ";
  EXPECT_EQ(PreFilterUnsupported(R"({
                "volumes":[{"persistentVolumeClaim":{"claimName":"c"}}],
                "resourceClaims":[{"name":"gpu"}]})"),
            prefix + "persistent volume claims, resource claims");
  EXPECT_EQ(PreFilterUnsupported(R"({"volumes":[{"ephemeral":{}}]})"),
            prefix + "persistent volume claims");
}

}  // namespace
}  // namespace minisched
