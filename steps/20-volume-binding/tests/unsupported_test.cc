#include "plugins/unsupported.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/status_testing.h"
#include "tests/volumes_testing.h"

namespace minisched {
namespace {

StorageClass ClassWith(const std::string& provisioner, const std::string& name,
                       const std::string& mode) {
  StorageClass storage_class = Class(name, mode);
  storage_class.provisioner = provisioner;
  return storage_class;
}

std::string PreFilterUnsupported(const std::string& spec) {
  static const VolumeCluster cluster(
      {.claims = {Claim("late", {.storage_class = "wait"}),
                  Claim("late-by-annotation", {.beta_class = "wait"}),
                  Claim("pod-scratch", {.storage_class = "wait"}),
                  Claim("bound", {.volume = "v", .storage_class = "wait"}),
                  Claim("prebound", {.volume = "v",
                                     .completed = false,
                                     .storage_class = "wait"}),
                  Claim("immediate", {.storage_class = "immediate"}),
                  Claim("static", {.storage_class = "local"}),
                  Claim("of-unknown-class", {.storage_class = "unknown"}),
                  Claim("without-class")},
       .classes = {
           ClassWith("example.com/disks", "wait", "WaitForFirstConsumer"),
           ClassWith("kubernetes.io/no-provisioner", "local",
                     "WaitForFirstConsumer"),
           ClassWith("example.com/disks", "immediate", "Immediate")}});
  Pod pod = PodOfSpec(spec);
  pod.metadata.namespace_name = "default";
  pod.metadata.name = "pod";
  CycleState state;
  PreFilterResult left_over;
  const Status status =
      Unsupported(cluster.handle()).PreFilter(state, pod, {}, left_over);
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

constexpr char kUnsupported[] =
    "UnschedulableAndUnresolvable: not supported by this scheduler: ";

TEST(UnsupportedTest, RejectsThePodWithAllUnsupportedRequirements) {
  EXPECT_EQ(PreFilterUnsupported(R"({"resourceClaims":[{"name":"gpu"}]})"),
            std::string(kUnsupported) + "resource claims");
  const std::string claim = R"("persistentVolumeClaim":{"claimName":"late"})";
  EXPECT_EQ(
      PreFilterUnsupported(R"({"volumes":[{)" + claim + R"(}],
                "resourceClaims":[{"name":"gpu"}]})"),
      std::string(kUnsupported) +
          "volumes that are provisioned for a pod's node, resource claims");
}

// Whether a claim is delayed: IsDelayBindingMode() in kube-scheduler.
TEST(UnsupportedTest, RejectsClaimsThatWaitForAProvisioner) {
  const std::string rejection = std::string(kUnsupported) +
                                "volumes that are provisioned for a pod's node";
  const auto of_claim = [](const std::string& name) {
    return PreFilterUnsupported(
        R"({"volumes":[{"emptyDir":{}},{"persistentVolumeClaim":{"claimName":")" +
        name + R"("}}]})");
  };
  EXPECT_EQ(of_claim("late"), rejection);
  EXPECT_EQ(of_claim("late-by-annotation"), rejection);
  EXPECT_EQ(of_claim("static"), "Success");
  EXPECT_EQ(of_claim("bound"), "Success");
  EXPECT_EQ(of_claim("prebound"), "Success");
  EXPECT_EQ(of_claim("immediate"), "Success");
  EXPECT_EQ(of_claim("of-unknown-class"), "Success");
  EXPECT_EQ(of_claim("without-class"), "Success");
  EXPECT_EQ(of_claim("missing"), "Success");
  EXPECT_EQ(PreFilterUnsupported(
                R"({"volumes":[{"name":"scratch","ephemeral":{}}]})"),
            rejection);
}

}  // namespace
}  // namespace minisched
