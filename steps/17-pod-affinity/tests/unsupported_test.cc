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

TEST(UnsupportedTest, AcceptsDisksThatPodsOnlyRead) {
  for (const char* kind : {"gcePersistentDisk", "iscsi", "rbd"}) {
    EXPECT_EQ(PreFilterUnsupported(fmt::format(
                  R"({{"volumes":[{{"{}":{{"readOnly":true}}}}]}})", kind)),
              "Success")
        << kind;
  }
}

TEST(UnsupportedTest, RejectsDisksThatPodsCannotShare) {
  const std::string rejected =
      "UnschedulableAndUnresolvable: not supported by this scheduler: inline "
      "disks";
  for (const char* disk :
       {R"("gcePersistentDisk":{"pdName":"d"})", R"("iscsi":{"iqn":"i"})",
        R"("rbd":{"image":"i","readOnly":false})",
        R"("awsElasticBlockStore":{"volumeID":"v"})",
        R"("awsElasticBlockStore":{"volumeID":"v","readOnly":true})"}) {
    EXPECT_EQ(PreFilterUnsupported(fmt::format(
                  R"({{"volumes":[{{"emptyDir":{{}}}},{{{}}}]}})", disk)),
              rejected)
        << disk;
  }
}

TEST(UnsupportedTest, RejectsThePodWithAllUnsupportedRequirements) {
  const std::string prefix =
      "UnschedulableAndUnresolvable: not supported by this scheduler: ";
  EXPECT_EQ(PreFilterUnsupported(R"({
                "volumes":[{"persistentVolumeClaim":{"claimName":"c"}},
                           {"rbd":{"image":"i"}}],
                "resourceClaims":[{"name":"gpu"}]})"),
            prefix + "persistent volume claims, inline disks, resource claims");
  EXPECT_EQ(PreFilterUnsupported(R"({"volumes":[{"ephemeral":{}}]})"),
            prefix + "persistent volume claims");
}

}  // namespace
}  // namespace minisched
