#include "plugins/unsupported.h"

#include <fmt/format.h>
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

TEST(UnsupportedTest, AcceptsInlineDisks) {
  for (const char* kind :
       {"gcePersistentDisk", "awsElasticBlockStore", "iscsi", "rbd"}) {
    EXPECT_EQ(PreFilterUnsupported(
                  fmt::format(R"({{"volumes":[{{"{}":{{}}}}]}})", kind)),
              "Success")
        << kind;
  }
}

TEST(UnsupportedTest, AcceptsClaimsOfVolumes) {
  EXPECT_EQ(
      PreFilterUnsupported(
          R"({"volumes":[{"persistentVolumeClaim":{"claimName":"data"}}]})"),
      "Success");
  EXPECT_EQ(PreFilterUnsupported(
                R"({"volumes":[{"name":"scratch","ephemeral":{}}]})"),
            "Success");
}

TEST(UnsupportedTest, RejectsResourceClaims) {
  EXPECT_EQ(PreFilterUnsupported(R"({"resourceClaims":[{"name":"gpu"}]})"),
            "UnschedulableAndUnresolvable: not supported by this scheduler: "
            "resource claims");
}

}  // namespace
}  // namespace minisched
